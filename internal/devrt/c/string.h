// What the engine's headers ask of <string.h>, for a GPU.
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#ifndef NULL
#define NULL ((void *)0)
#endif
