// The texts of the last failures, by library: the Go image writes them, C answers with them. The last byte of each stays 0.
#ifndef KZ_LAST_ERROR_H
#define KZ_LAST_ERROR_H

enum kz_last_error { KZ_LAST_ERROR_NCCL, KZ_LAST_ERROR_CUDNN, KZ_LAST_ERRORS };

#define KZ_LAST_ERROR_SIZE 1024

typedef char kz_last_error_text[KZ_LAST_ERROR_SIZE];

#endif
