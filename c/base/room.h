// Whether there is room for the Go image.
#ifndef KZ_ROOM_H
#define KZ_ROOM_H

// kz_room is 0, or the code that tells of what is short, with the words for it.
int kz_room(const char **why);

#endif
