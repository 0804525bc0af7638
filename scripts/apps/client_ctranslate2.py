"""CTranslate2 on Kudzu, against its CPU path: a translation model, a language model and an encoder with random weights, written by its
converter with each quantisation. Both paths get the same tokens; what they compute are logits, scores and tokens of greedy and beam search."""

import os
import tempfile

import ctranslate2
import numpy as np
from ctranslate2 import specs
from ctranslate2.specs import common_spec

from rows import Client

client = Client("CTranslate2", ctranslate2.__version__)
rng = np.random.default_rng(3)
WIDTH, HEADS, LAYERS, VOCABULARY = 128, 4, 2, 400
tokens = ["<blank>", "<unk>", "<s>", "</s>"] + [f"t{k}" for k in range(VOCABULARY - 4)]
folder = tempfile.TemporaryDirectory()


def normal(*shape):
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype("f4")


def linear(spec, out, width, bias=True):
    spec.weight = normal(out, width)
    if bias:
        spec.bias = 0.1 * normal(out)


def norm(spec, bias=True):
    spec.gamma = (1 + 0.1 * rng.standard_normal(WIDTH)).astype("f4")
    if bias:
        spec.beta = normal(WIDTH)


def attention(spec, outs, bias=True):
    norm(spec.layer_norm, bias)
    for part, out in zip(spec.linear, outs):
        linear(part, out, WIDTH, bias)


def block(layer, own, bias=True, cross=False):
    attention(layer.self_attention, [own, WIDTH], bias)
    if cross:
        attention(layer.attention, [WIDTH, 2 * WIDTH, WIDTH])
    norm(layer.ffn.layer_norm, bias)
    linear(layer.ffn.linear_0, 4 * WIDTH, WIDTH, bias)
    linear(layer.ffn.linear_1, WIDTH, 4 * WIDTH, bias)
    if hasattr(layer.ffn, "linear_0_noact"):
        linear(layer.ffn.linear_0_noact, 4 * WIDTH, WIDTH, bias)


def translation():
    spec = specs.TransformerSpec.from_config((LAYERS, LAYERS), HEADS, pre_norm=True)
    spec.encoder.embeddings[0].weight = normal(VOCABULARY, WIDTH) * 8
    spec.decoder.embeddings.weight = normal(VOCABULARY, WIDTH) * 8
    for layer in spec.encoder.layer:
        block(layer, 3 * WIDTH)
    for layer in spec.decoder.layer:
        block(layer, 3 * WIDTH, cross=True)
    norm(spec.encoder.layer_norm)
    norm(spec.decoder.layer_norm)
    linear(spec.decoder.projection, VOCABULARY, WIDTH)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    return spec


def language():
    """As Llama's: RMS norms, rotary positions, a gated layer, fewer heads of keys."""
    spec = specs.TransformerDecoderModelSpec.from_config(
        LAYERS, HEADS, activation=common_spec.Activation.SWISH, pre_norm=True, ffn_glu=True, rms_norm=True, rotary_dim=0, rotary_interleave=False,
        num_heads_kv=HEADS // 2)
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = normal(VOCABULARY, WIDTH) * 8
    for layer in decoder.layer:
        block(layer, 2 * WIDTH, bias=False)
    norm(decoder.layer_norm, bias=False)
    linear(decoder.projection, VOCABULARY, WIDTH, bias=False)
    spec.register_vocabulary(tokens)
    return spec


def encoder():
    """As BERT's: positions of its own, norms behind, a pooled output."""
    spec = specs.TransformerEncoderModelSpec(
        specs.TransformerEncoderSpec(LAYERS, HEADS, pre_norm=False, activation=common_spec.Activation.GELU, layernorm_embedding=True, num_source_embeddings=2,
                                     embeddings_merge=common_spec.EmbeddingsMerge.ADD), pooling_layer=True, pooling_activation=common_spec.Activation.Tanh)
    for part, rows in zip(spec.encoder.embeddings, (VOCABULARY, 2)):
        part.weight = normal(rows, WIDTH) * 8
    spec.encoder.position_encodings.encodings = normal(64, WIDTH)
    norm(spec.encoder.layernorm_embedding)
    for layer in spec.encoder.layer:
        block(layer, 3 * WIDTH)
    linear(spec.pooler_dense, WIDTH, WIDTH)
    spec.register_vocabulary(tokens)
    return spec


class Converter(ctranslate2.converters.Converter):
    def __init__(self, make):
        self.make = make

    def _load(self):
        return self.make()


def convert(make, quantization):
    global rng
    rng = np.random.default_rng(3)  # the same weights in every file
    return Converter(make).convert(os.path.join(folder.name, f"{make.__name__}-{quantization}"), quantization=quantization, force=True)


words = np.random.default_rng(4)
sources = [[tokens[k] for k in words.integers(4, VOCABULARY, n)] for n in (9, 14, 5, 11)]
KINDS = {"translation": ctranslate2.Translator, "language": ctranslate2.Generator, "encoder": ctranslate2.Encoder}


def opened(make, quantization, device, compute):
    return KINDS[make.__name__](convert(make, quantization), device=device, compute_type=compute)


def array(view):
    view = view.to(ctranslate2.DataType.float32)
    return np.array(view.to_device(ctranslate2.Device.cpu) if view.device == "cuda" else view)


def greedy(model):
    results = model.translate_batch(sources, beam_size=1, max_decoding_length=16, min_decoding_length=16, return_scores=True)
    return np.array([[tokens.index(t) for t in r.hypotheses[0]] for r in results]), np.array([r.scores[0] for r in results])


def beam(model):
    results = model.translate_batch(sources, beam_size=4, num_hypotheses=2, max_decoding_length=12, min_decoding_length=12, return_scores=True, length_penalty=0.6)
    return np.array([[[tokens.index(t) for t in h] for h in r.hypotheses] for r in results]), np.array([r.scores for r in results])


def score(model):
    return tuple(np.array(r.log_probs) for r in model.score_batch(sources, [s[:6] for s in reversed(sources)]))


def logits(model):
    return array(model.forward_batch([s[:5] for s in sources]))


def generate(model):
    results = model.generate_batch([s[:3] for s in sources], max_length=16, min_length=16, sampling_topk=1, return_scores=True, include_prompt_in_result=False)
    return np.array([r.sequences_ids[0] for r in results]), np.array([r.scores[0] for r in results])


def scores(model):
    return tuple(np.array(r.log_probs) for r in model.score_batch(sources))


def encoded(model):
    out = model.forward_batch([s[:5] for s in sources])
    return array(out.last_hidden_state), array(out.pooler_output)


# quantisation of the file, type of computation on the device, and on the CPU, which has no half types: bound. Values that half precision
# rounded fall to other steps of int8: those results are as far from each other as each is from f32's (1.6 % of the mean square).
TYPES = [("float32", "float32", "float32", 2e-5), ("float16", "float16", "float32", 1e-2), ("float32", "bfloat16", "float32", 8e-2),
         ("int8", "int8_float32", "int8_float32", 1e-5), ("int8_float16", "int8_float16", "int8_float32", 8e-2)]
for make, runs in [(translation, (greedy, beam, score)), (language, (logits, generate, scores)), (encoder, (encoded,))]:
    for quantization, compute, reference, bound in TYPES:
        for run in runs:
            if run in (greedy, beam, generate) and compute != "float32":
                continue  # tokens of close scores change places
            client.case(f"{make.__name__}_{run.__name__}_{compute}",
                        lambda: run(opened(make, quantization, "cuda", compute)),
                        lambda: run(opened(make, quantization, "cpu", reference)), bound, group=make.__name__)

for make, run in (translation, greedy), (language, generate):
    name = f"{make.__name__}, {run.__name__}, float32"
    if client.wants(name):
        pair = {d: opened(make, "float32", d, "float32") for d in ("cuda", "cpu")}
        client.figure(name, lambda: run(pair["cuda"]), lambda: run(pair["cpu"]), group="inference")
