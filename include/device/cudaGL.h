// What the driver shares with OpenGL. The types of OpenGL are integers here, so that programs build where its headers are not.
#ifndef KUDZU_CUDAGL_H
#define KUDZU_CUDAGL_H
#ifndef CUDAGL_H
#define CUDAGL_H
#endif

#include "cuda.h"

#if defined(__has_include)
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#endif
#endif

#endif
