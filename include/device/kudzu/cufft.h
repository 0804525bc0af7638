/* cuFFT: the types of callbacks, by what they load or store. */
#ifndef KUDZU_CUFFT_CALLBACKS_H
#define KUDZU_CUFFT_CALLBACKS_H

#define KUDZU_CALLBACKS(letter, T)                                                                                    \
  typedef T (*cufftCallbackLoad##letter)(void *dataIn, size_t offset, void *callerInfo, void *sharedPointer);         \
  typedef void (*cufftCallbackStore##letter)(void *dataOut, size_t offset, T element, void *callerInfo,               \
                                             void *sharedPointer);                                                    \
  typedef T (*cufftJITCallbackLoad##letter)(void *dataIn, unsigned long long offset, void *callerInfo,                \
                                            void *sharedPointer);                                                     \
  typedef void (*cufftJITCallbackStore##letter)(void *dataOut, unsigned long long offset, T element,                  \
                                                void *callerInfo, void *sharedPointer);
KUDZU_CALLBACKS(C, cufftComplex)
KUDZU_CALLBACKS(Z, cufftDoubleComplex)
KUDZU_CALLBACKS(R, cufftReal)
KUDZU_CALLBACKS(D, cufftDoubleReal)
#undef KUDZU_CALLBACKS

#endif
