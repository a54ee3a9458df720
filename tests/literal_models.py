# ruff: noqa: C408, E401, E501, E731, I001, N812, SIM115, SIM905
# mypy: ignore-errors
"""Tiny tokenizers, random models and literal-loop references for the cases of this folder.

All weights are drawn from a seed; nothing is downloaded. References feed one unpadded text (or one
prefix) at a time to the model, without batches, trees or hooks.
"""

import csv, json, os
import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch, transformers as T
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

torch.set_num_threads(1)
T.logging.set_verbosity_error()
SIZE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
BART = dict(
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=64,
    decoder_ffn_dim=64,
    max_position_embeddings=80,
    pad_token_id=0,
    bos_token_id=0,
    eos_token_id=0,
)
WORDS = (
    "he she him her his is was works said that as a the an nurse doctor plumber secretary brother sister men women "
    "my our boss fired strong late early every day cooks dinner went home office salary family children good long "
    "working hours in at and fast engineer teacher of people park . ; like"
).split()


def wordpiece(chars=()):
    vocab = {
        t: i
        for i, t in enumerate(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chars or WORDS), "##s"]
        )
    }
    t = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = (
        normalizers.BertNormalizer(lowercase=True),
        pre_tokenizers.BertPreTokenizer(),
    )
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=t,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )


def bytelevel(bos=True):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    t.train_from_iterator(
        [" ".join(WORDS)] * 5,
        trainers.BpeTrainer(
            vocab_size=360, special_tokens=["<|endoftext|>"], initial_alphabet=sorted(alphabet)
        ),
    )
    if bos:
        t.post_processor = processors.TemplateProcessing(
            single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=t,
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        unk_token="<|endoftext|>",
        model_max_length=64,
    )


def gemma_like():
    """As Gemma's and mmBERT's: the normaliser turns spaces into ▁, so that no pre-tokeniser splits words."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer, t.pre_tokenizer = (
        normalizers.Replace(" ", "▁"),
        pre_tokenizers.Split("▁", "merged_with_next"),
    )
    special = ["<pad>", "<unk>", "<bos>", "<eos>", "<mask>"]
    t.train_from_iterator(
        [" ".join(WORDS)] * 5, trainers.BpeTrainer(vocab_size=150, special_tokens=special)
    )
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 2), ("<eos>", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=t,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        cls_token="<bos>",
        sep_token="<eos>",
        mask_token="<mask>",
        model_max_length=64,
    )


def draw(model, seed, scale=0.3):
    torch.manual_seed(seed)
    with torch.no_grad():
        for _, p in sorted(model.named_parameters()):
            if p.dim() > 1:
                p.normal_(0, scale)
    return model.eval()


def save(model, tok, folder, **config):
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    if config:
        path = f"{folder}/config.json"
        old = json.load(open(path))
        for key, value in config.items():
            old.pop(key, None) if value is None else old.update({key: value})
        json.dump(old, open(path, "w"))


def logits(model, ids):
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]))
    return (out.logits if "logits" in out else out.prediction_logits)[0].double().log_softmax(-1)


def masked_pll(model, tok, text, l2r=False):
    ids = tok(text)["input_ids"]
    tokens, word, words = tok.convert_ids_to_tokens(ids), -1, []
    for n, token in enumerate(tokens):
        word += n == 1 or token.startswith("▁")
        words.append(word)
    total = 0.0
    for i in range(1, len(ids) - 1):
        hidden = [j for j in range(i, len(ids) - 1) if j == i or (l2r and words[j] == words[i])]
        row = [tok.mask_token_id if j in hidden else k for j, k in enumerate(ids)]
        total += float(logits(model, row)[i, ids[i]])
    return total


def causal_ll(model, tok, text):
    ids = tok(text)["input_ids"]
    return sum(float(logits(model, ids[:i])[-1, ids[i]]) for i in range(1, len(ids)))


def pairs_of(path):
    return [(r["stereo"], r["anti"]) for r in csv.DictReader(open(path, encoding="utf-8"))]


def mean_difference(score, pairs):
    return float(np.mean([score(a) - score(b) for a, b in pairs]))


def share(score, pairs):
    return float(np.mean([score(a) > score(b) for a, b in pairs]))


def groups_mean(path, value):
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    names = list(dict.fromkeys(r["group"] for r in rows))
    by = {n: [value(r["text"], r["term"]) for r in rows if r["group"] == n] for n in names}
    return float(np.mean(by[names[0]]) - np.mean(by[names[1]]))


def next_word(model, tok, path, fillers=("he", "she")):
    def log_p(context, word):
        ids, n = tok(f"{context} {word}")["input_ids"], len(tok(context)["input_ids"])
        return sum(float(logits(model, ids[:i])[-1, ids[i]]) for i in range(n, len(ids)))

    def value(text, term):
        context = text.replace("{}", term).split("[MASK]")[0].rstrip()
        return log_p(context, fillers[0]) - log_p(context, fillers[1])

    return groups_mean(path, value)


def lpbs(model, tok, path, fillers, slot="[MASK]", spaced=True):
    def log_p(text, term, filler, prior):
        filled = text.replace("{}", term).replace(slot, filler)
        enc = tok(filled, return_offsets_mapping=True)
        ids, at = list(enc["input_ids"]), text.replace("{}", term).index(slot)
        where = filled.index(term, 0 if filled.index(term) != at else at + len(filler))
        covers = lambda s, e: [
            n for n, (a, b) in enumerate(enc["offset_mapping"]) if max(a, s) < min(b, e)
        ]
        target = covers(at, at + len(filler))
        hidden = target + (covers(where, where + len(term)) if prior else [])
        row = [tok.mask_token_id if n in hidden else k for n, k in enumerate(ids)]
        return sum(float(logits(model, row)[n, ids[n]]) for n in target)

    def value(text, term):
        odds = [log_p(text, term, f, False) - log_p(text, term, f, True) for f in fillers]
        return odds[0] - odds[1]

    return groups_mean(path, value)


def seat(encode, path):
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    unit = lambda v: np.asarray(v, float) / np.linalg.norm(v)
    v = {
        g: [unit(encode(r["text"].replace("{}", r["term"]))) for r in rows if r["group"] == g]
        for g in "XYAB"
    }
    s = lambda w: np.mean([w @ a for a in v["A"]]) - np.mean([w @ b for b in v["B"]])
    x, y = [s(w) for w in v["X"]], [s(w) for w in v["Y"]]
    return float((np.mean(x) - np.mean(y)) / np.std(x + y, ddof=1))


def state(base, tok, text):
    with torch.no_grad():
        return base(input_ids=torch.tensor([tok(text)["input_ids"]]))[0][0].double().numpy()


def sentence_transformer(folder, base, tok, pooling, dense=None, prompt=""):
    """Write the files that sentence-transformers adds to a model; return the encoder that they describe."""
    save(base, tok, folder)
    os.makedirs(f"{folder}/1_Pooling", exist_ok=True)
    kinds = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    json.dump(
        {"word_embedding_dimension": 32}
        | {f"pooling_mode_{n}": k == pooling for k, n in kinds.items()},
        open(f"{folder}/1_Pooling/config.json", "w"),
    )
    name = "sentence_transformers.models."
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if dense is not None:
        from safetensors.torch import save_file

        os.makedirs(f"{folder}/2_Dense", exist_ok=True)
        save_file(
            {"linear.weight": dense[0], "linear.bias": dense[1]},
            f"{folder}/2_Dense/model.safetensors",
        )
        json.dump(
            {
                "in_features": 32,
                "out_features": 32,
                "bias": True,
                "activation_function": "torch.nn.modules.activation.Tanh",
            },
            open(f"{folder}/2_Dense/config.json", "w"),
        )
        modules.append(("2_Dense", "Dense"))
    json.dump(
        [
            {"idx": n, "name": str(n), "path": p, "type": name + k}
            for n, (p, k) in enumerate(modules)
        ],
        open(f"{folder}/modules.json", "w"),
    )
    json.dump(
        {"prompts": {"p": prompt}, "default_prompt_name": "p" if prompt else None},
        open(f"{folder}/config_sentence_transformers.json", "w"),
    )

    def encode(text):
        h = state(base, tok, prompt + text)
        v = {"cls": h[0], "mean": h.mean(0), "max": h.max(0)}[pooling]
        return (
            v
            if dense is None
            else np.tanh(dense[0].double().numpy() @ v + dense[1].double().numpy())
        )

    return encode
