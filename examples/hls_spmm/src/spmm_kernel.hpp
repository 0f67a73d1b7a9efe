// spmm on i32.
#ifndef spmm_kernel_HPP
#define spmm_kernel_HPP

#include "samhw/memory.hpp"
#include "samhw/status.hpp"
#include "samhw/values.hpp"

using samhw::bf16;
using samhw::fixed;
using samhw::index_t;
using samhw::small;

/// A word of a memory of coordinates or positions.
typedef samhw::traits<index_t>::memory index_word;

/// Words of each memory: the greatest that the kernel takes.
static const unsigned A_pos1_words = 65;
static const unsigned A_crd1_words = 256;
static const unsigned A_vals_words = 256;
static const unsigned X_vals_words = 1024;
static const unsigned T_pos1_words = 65;
static const unsigned T_crd1_words = 1024;
static const unsigned T_vals_words = 1024;

/// The nodes of the graph, as `status` numbers them from bit 4 on; bits 0 to 3 are the cause (samhw/token.hpp).
enum spmm_kernel_node {
    node_root = 0,
    node_scan_dense_A_i = 1,
    node_write_dense_T_i = 2,
    node_repeat_X_i = 3,
    node_scan_compressed_A_k = 4,
    node_locate_X_k = 5,
    node_scan_dense_X_j = 6,
    node_repeat_A_j = 7,
    node_array_A = 8,
    node_array_X = 9,
    node_mul = 10,
    node_reduce_vector_t0 = 11,
    node_write_compressed_T_j = 12,
    node_write_val_T = 13,
};

/// @param i_extent extent of i, at most 64
/// @param k_extent extent of k, at most 64
/// @param j_extent extent of j, at most 16
/// @param A_pos1_stored words of A_pos1 that are stored
/// @param A_crd1_stored words of A_crd1 that are stored
/// @param A_vals_stored words of A_vals that are stored
/// @param X_vals_stored words of X_vals that are stored
/// @param A_pos1 pos1 of tensor A, 65 words (input)
/// @param A_crd1 crd1 of tensor A, 256 words (input)
/// @param A_vals vals of tensor A, 256 words (input)
/// @param X_vals vals of tensor X, 1024 words (input)
/// @param T_pos1 pos1 of tensor T, 65 words (output)
/// @param T_crd1 crd1 of tensor T, 1024 words (output)
/// @param T_vals vals of tensor T, 1024 words (output)
/// @param status 0, or the first error: the results are not to be used then; after it the words that lie in T_pos1, T_crd1, T_vals
void spmm_kernel(
    index_t i_extent,
    index_t k_extent,
    index_t j_extent,
    unsigned A_pos1_stored,
    unsigned A_crd1_stored,
    unsigned A_vals_stored,
    unsigned X_vals_stored,
    samhw::burst_port A_pos1,
    samhw::burst_port A_crd1,
    samhw::burst_port A_vals,
    samhw::burst_port X_vals,
    samhw::burst_port T_pos1,
    samhw::burst_port T_crd1,
    samhw::burst_port T_vals,
    samhw::status_word *status);

#endif
