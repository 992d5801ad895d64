// Attention alone, over packed sentences; the arguments are those of Sentences. E is a multiple of 16.
#include "attention.h"

extern "C" {

void k_attention(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q, i64 ldq,
                 const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream, double p,
                 float* probs, float* out) {
  attend_all({B, H, E, cu_q, cu_k, at, q, ldq, k, ldk, v, ldv, causal}, {seed, stream, p}, probs, out, H * E);
}

void k_attention_back(i64 B, i64 H, i64 E, const int32_t* cu_q, const int32_t* cu_k, const i64* at, const float* q,
                      i64 ldq, const float* k, i64 ldk, const float* v, i64 ldv, int causal, u64 seed, u64 stream,
                      double p, const float* probs, const float* g, float* dq, i64 lddq, float* dk, i64 lddk, float* dv,
                      i64 lddv) {
  for_all_heads({B, H, E, cu_q, cu_k, at, q, ldq, k, ldk, v, ldv, causal}, {seed, stream, p},
                [=](const Head& h, const Drop& mine, HeadRoom& room, i64 q0, i64 k0, i64 e, i64 place) {
                  attend_back(h, mine, room, probs + place, g + q0 * H * E + e, H * E, dq + q0 * lddq + e, lddq,
                              dk + k0 * lddk + e, lddk, dv + k0 * lddv + e, lddv);
                });
}

}  // extern "C"
