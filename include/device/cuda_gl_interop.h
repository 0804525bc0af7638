// What the runtime shares with OpenGL. The types of OpenGL are integers here, so that programs build where its headers are not.
#ifndef KUDZU_CUDA_GL_INTEROP_H
#define KUDZU_CUDA_GL_INTEROP_H
#ifndef __CUDA_GL_INTEROP_H__
#define __CUDA_GL_INTEROP_H__
#endif

#include "cuda_runtime.h"

#if defined(__has_include)
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#endif
#endif

#endif
