from collections.abc import Mapping, Sequence
from typing import Literal

from pyarrow import BufferReader, DataType, Table

class ReadOptions:
    def __init__(
        self, *, block_size: int | None = None, column_names: Sequence[str] | None = None
    ) -> None: ...

class ParseOptions:
    def __init__(
        self,
        *,
        delimiter: str = ",",
        quote_char: str | Literal[False] = '"',
        double_quote: bool = True,
        ignore_empty_lines: bool = True,
    ) -> None: ...

class ConvertOptions:
    def __init__(
        self,
        *,
        column_types: Mapping[str, DataType] | None = None,
        null_values: Sequence[str] | None = None,
        strings_can_be_null: bool = False,
    ) -> None: ...

def read_csv(
    input_file: BufferReader,
    read_options: ReadOptions | None = None,
    parse_options: ParseOptions | None = None,
    convert_options: ConvertOptions | None = None,
) -> Table: ...
