from gensim.models.fasttext import FastText as FastText
from gensim.models.keyedvectors import KeyedVectors as KeyedVectors
from gensim.models.word2vec import Word2Vec as Word2Vec
