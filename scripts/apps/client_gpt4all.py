"""gpt4all on Kudzu, against its CPU path: models of random weights that internal/testkit/gguf writes, in the types that its llama.cpp has
kernels for. What is compared is the text of greedy generation: 32 tokens, or 3 of a quantised model. There llama.cpp rounds
activations to 8 bits in other blocks on a GPU than on the CPU, and with random weights the texts part after 3 to 17 tokens."""

import os
import subprocess
from importlib import metadata

import numpy as np
from gpt4all import GPT4All

from rows import Client

client = Client("gpt4all", metadata.version("gpt4all"))
folder = os.path.join(os.environ["HOME"], "models")
PROMPT = "Once upon a time there was a small river"
os.makedirs(folder, exist_ok=True)


def model(kind, device):
    name = f"15M-{kind}.gguf"
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        subprocess.run(["go", "run", "./internal/testkit/gguf/make", "-quant", kind, "-o", path + ".part"], check=True)
        os.rename(path + ".part", path)
    return GPT4All(name, model_path=folder, device=device, allow_download=False, n_ctx=512, n_threads=2, ngl=100)


def text(kind, device, tokens=32):
    with model(kind, device) as m:
        pieces = list(m.generate(PROMPT, max_tokens=tokens, temp=0, streaming=True))
    return np.frombuffer("".join(pieces).encode(), np.uint8).astype("i4")


for kind in ("F32", "F16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"):
    tokens = 32 if kind.startswith("F") else 3
    client.case(f"generate_{kind}", lambda: text(kind, "cuda", tokens), lambda: text(kind, "cpu", tokens), 0, group="generation")

if client.wants("15M Q8_0, 64 tokens"):
    with model("Q8_0", "cuda") as device, model("Q8_0", "cpu") as cpu:
        client.figure("15M Q8_0, 64 tokens", lambda: device.generate(PROMPT, max_tokens=64, temp=0), lambda: cpu.generate(PROMPT, max_tokens=64, temp=0),
                      group="generation", turns=3)
