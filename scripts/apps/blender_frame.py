"""Inside Blender (scripts/apps/blender.sh): the default scene by Cycles, on the CPU with two seeds and on Kudzu with the
first one. The frames of one seed may differ by no more than a hundredth of what the seeds do, on average, and kernels of
ours must have made Kudzu's."""

import os
import struct
import sys
import time

import bpy
import numpy as np

SIZE, SAMPLES = int(os.environ.get("SIZE", "64")), int(os.environ.get("SAMPLES", "16"))
LAUNCHES, INTERPRETED = 6, 7  # words of the file KUDZU_STATS


def frame(device, seed):
    """The pixels of a frame: channels in a row."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    prefs = bpy.context.preferences.addons["cycles"].preferences
    if device == "GPU":
        prefs.compute_device_type = "CUDA"
        prefs.get_devices()
        for d in prefs.devices:
            d.use = d.type == "CUDA"
            print("device", d.name, d.type, d.use, flush=True)
    scene.cycles.device, scene.cycles.samples, scene.cycles.seed = device, SAMPLES, seed
    scene.cycles.use_denoising = scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format, scene.render.image_settings.color_depth = "OPEN_EXR", "32"
    scene.render.filepath = f"/out/{device}-{seed}.exr"
    begin = time.time()
    bpy.ops.render.render(write_still=True)
    print(f"frame {device}, seed {seed}: {time.time() - begin:.1f} s", flush=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.empty(SIZE * SIZE * 4, np.float32)
    image.pixels.foreach_get(pixels)
    return pixels


def launches():
    with open(os.environ["KUDZU_STATS"], "rb") as f:
        words = struct.unpack("<8Q", f.read(64))
    return words[LAUNCHES], words[INTERPRETED]


first, second = frame("CPU", 1), frame("CPU", 2)
ours = frame("GPU", 1)
far, noise = np.abs(ours - first), np.abs(second - first)
compiled, interpreted = launches()
print(f"launches: {compiled} compiled, {interpreted} interpreted")
print(f"Kudzu and CPU: {far.mean():.2g} on average, {far.max():.2g} at most; two seeds of the CPU: {noise.mean():.2g} on average")
sys.stdout.flush()
if not far.mean() <= noise.mean() / 100 or not compiled + interpreted:
    raise SystemExit(3)
