"""The record of a run, and text that is fit to keep, to show and for a model.

Above: the gate and the runner, which note every step; the command line, which shows records.
Below: sinks, any callable that takes an `Event`. Nothing reaches a sink before the redactor.
"""

from lineshaft.trace._files import JsonlSink, jsonl_sink, read_events
from lineshaft.trace._formats import HIDDEN
from lineshaft.trace._lines import argument_texts, brief, call_line, readable_line, size
from lineshaft.trace._names import secret_values
from lineshaft.trace._record import Recorder
from lineshaft.trace._redact import SHORTEST_SECRET, Redactor
from lineshaft.trace._stream import RedactedStream
from lineshaft.trace._summary import result_data, summarise
from lineshaft.trace._text import condense_command_output, cut_for_model, strip_ansi
from lineshaft.values import counted

__all__ = [
    "HIDDEN",
    "SHORTEST_SECRET",
    "JsonlSink",
    "Recorder",
    "RedactedStream",
    "Redactor",
    "argument_texts",
    "brief",
    "call_line",
    "condense_command_output",
    "counted",
    "cut_for_model",
    "jsonl_sink",
    "read_events",
    "readable_line",
    "result_data",
    "secret_values",
    "size",
    "strip_ansi",
    "summarise",
]
