// Names made of the word that a generated file gives: KZ_API, an interface, or KZ_KEY, a library.
#ifndef KZ_JOIN_H
#define KZ_JOIN_H

#define KZ_JOIN_NOW(a, b, c) a##b##c
#define KZ_JOIN(a, b, c) KZ_JOIN_NOW(a, b, c)

#define KZ_SLOT(slot) KZ_JOIN(KZ_, KZ_API, _##slot)  // a function's place in the jump tables
#define KZ_ID(row) KZ_JOIN(KZ_ID_, KZ_API, _##row)   // its place among the handlers of its interface
#define KZ_STUB(slot) KZ_JOIN(kz_stub_, KZ_API, _##slot)
#define KZ_CALL(row) (KZ_JOIN(KZ_API_, KZ_API, ) << 16 | KZ_ID(row)) // what the door is given: interface and handler

#endif
