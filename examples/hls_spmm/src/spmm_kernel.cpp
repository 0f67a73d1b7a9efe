// spmm on i32.
//
//   T[i, j] = A[i, k] * X[k, j]    order i, k, j
//
// Every call in the DATAFLOW region is a process of its own. Each block is a node of the graph; the comment above it is the cell of
// the fusion table from which it comes. Streams are named after the tensor and the index whose coordinates (crd), references (ref)
// or values (val) they carry, and have the depths of the graph's channels.
#include "spmm_kernel.hpp"

#include "samhw/alu.hpp"
#include "samhw/array.hpp"
#include "samhw/fanout.hpp"
#include "samhw/locate.hpp"
#include "samhw/repeat.hpp"
#include "samhw/root.hpp"
#include "samhw/scan_compressed.hpp"
#include "samhw/scan_dense.hpp"
#include "samhw/status.hpp"
#include "samhw/vector_reducer.hpp"
#include "samhw/write_compressed.hpp"
#include "samhw/write_dense.hpp"
#include "samhw/write_val.hpp"

using samhw::stream;

/// Copies of what shares a port to the host's memory, one after another; those of several ports run side by side.
namespace spmm_kernel_copies {

static void load_gmem0(samhw::burst_port A_pos1, unsigned A_pos1_stored, index_word A_pos1_chip[80]) {
#pragma HLS INLINE off
    samhw::load<80>(A_pos1, A_pos1_stored, A_pos1_chip);
}

static void load_gmem1(samhw::burst_port A_crd1, unsigned A_crd1_stored, index_word A_crd1_chip[256]) {
#pragma HLS INLINE off
    samhw::load<256>(A_crd1, A_crd1_stored, A_crd1_chip);
}

static void load_gmem2(samhw::burst_port A_vals, unsigned A_vals_stored, ap_uint<32> A_vals_chip[256]) {
#pragma HLS INLINE off
    samhw::load<256>(A_vals, A_vals_stored, A_vals_chip);
}

static void load_gmem3(samhw::burst_port X_vals, unsigned X_vals_stored, ap_uint<32> X_vals_chip[1024]) {
#pragma HLS INLINE off
    samhw::load<1024>(X_vals, X_vals_stored, X_vals_chip);
}

static void store_gmem2(const index_word T_pos1_chip[80], samhw::burst_port T_pos1, unsigned T_pos1_count, unsigned &T_pos1_count_told) {
#pragma HLS INLINE off
    samhw::store<80>(T_pos1_chip, T_pos1, 0, T_pos1_count);
    T_pos1_count_told = T_pos1_count;
}

static void store_gmem3(const index_word T_crd1_chip[1024], samhw::burst_port T_crd1, unsigned T_crd1_count, unsigned &T_crd1_count_told) {
#pragma HLS INLINE off
    samhw::store<1024>(T_crd1_chip, T_crd1, 0, T_crd1_count);
    T_crd1_count_told = T_crd1_count;
}

static void store_gmem1(const ap_uint<32> T_vals_chip[1024], samhw::burst_port T_vals, unsigned T_vals_count, unsigned &T_vals_count_told) {
#pragma HLS INLINE off
    samhw::store<1024>(T_vals_chip, T_vals, 0, T_vals_count);
    T_vals_count_told = T_vals_count;
}

} // namespace spmm_kernel_copies

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
    samhw::status_word *status) {
#pragma HLS INTERFACE m_axi port=A_pos1 offset=slave bundle=gmem0 depth=5 latency=1 max_read_burst_length=8 num_read_outstanding=1 max_write_burst_length=2 num_write_outstanding=1
#pragma HLS INTERFACE m_axi port=A_crd1 offset=slave bundle=gmem1 depth=16 latency=1 max_read_burst_length=16 num_read_outstanding=1 max_write_burst_length=16 num_write_outstanding=4
#pragma HLS INTERFACE m_axi port=A_vals offset=slave bundle=gmem2 depth=16 latency=1 max_read_burst_length=16 num_read_outstanding=1 max_write_burst_length=8 num_write_outstanding=1
#pragma HLS INTERFACE m_axi port=X_vals offset=slave bundle=gmem3 depth=64 latency=1 max_read_burst_length=16 num_read_outstanding=4 max_write_burst_length=16 num_write_outstanding=4
#pragma HLS INTERFACE m_axi port=T_pos1 offset=slave bundle=gmem2 depth=5 latency=1 max_read_burst_length=16 num_read_outstanding=1 max_write_burst_length=8 num_write_outstanding=1
#pragma HLS INTERFACE m_axi port=T_crd1 offset=slave bundle=gmem3 depth=64 latency=1 max_read_burst_length=16 num_read_outstanding=4 max_write_burst_length=16 num_write_outstanding=4
#pragma HLS INTERFACE m_axi port=T_vals offset=slave bundle=gmem1 depth=64 latency=1 max_read_burst_length=16 num_read_outstanding=1 max_write_burst_length=16 num_write_outstanding=4
#pragma HLS INTERFACE m_axi port=status offset=slave bundle=gmem_status depth=4
#pragma HLS INTERFACE s_axilite port=i_extent
#pragma HLS INTERFACE s_axilite port=k_extent
#pragma HLS INTERFACE s_axilite port=j_extent
#pragma HLS INTERFACE s_axilite port=A_pos1_stored
#pragma HLS INTERFACE s_axilite port=A_crd1_stored
#pragma HLS INTERFACE s_axilite port=A_vals_stored
#pragma HLS INTERFACE s_axilite port=X_vals_stored
#pragma HLS INTERFACE s_axilite port=A_pos1
#pragma HLS INTERFACE s_axilite port=A_crd1
#pragma HLS INTERFACE s_axilite port=A_vals
#pragma HLS INTERFACE s_axilite port=X_vals
#pragma HLS INTERFACE s_axilite port=T_pos1
#pragma HLS INTERFACE s_axilite port=T_crd1
#pragma HLS INTERFACE s_axilite port=T_vals
#pragma HLS INTERFACE s_axilite port=status
#pragma HLS INTERFACE s_axilite port=return
#pragma HLS DATAFLOW

    // Copies of the memories on the chip, filled before a process reads them and emptied after one has written them.
    SAMHW_MEMORY index_word A_pos1_chip[80];
#pragma HLS STREAM variable=A_pos1_chip type=pipo depth=1
#pragma HLS ARRAY_RESHAPE variable=A_pos1_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY index_word A_crd1_chip[256];
#pragma HLS STREAM variable=A_crd1_chip type=pipo depth=1
#pragma HLS ARRAY_RESHAPE variable=A_crd1_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY ap_uint<32> A_vals_chip[256];
#pragma HLS STREAM variable=A_vals_chip type=pipo depth=1
#pragma HLS ARRAY_RESHAPE variable=A_vals_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY ap_uint<32> X_vals_chip[1024];
#pragma HLS STREAM variable=X_vals_chip type=pipo depth=1
#pragma HLS ARRAY_RESHAPE variable=X_vals_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY index_word T_pos1_chip[80];
#pragma HLS STREAM variable=T_pos1_chip type=pipo depth=1
#pragma HLS ARRAY_PARTITION variable=T_pos1_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY index_word T_crd1_chip[1024];
#pragma HLS STREAM variable=T_crd1_chip type=pipo depth=1
#pragma HLS ARRAY_PARTITION variable=T_crd1_chip type=cyclic factor=16 dim=1
    SAMHW_MEMORY ap_uint<32> T_vals_chip[1024];
#pragma HLS STREAM variable=T_vals_chip type=pipo depth=1
#pragma HLS ARRAY_PARTITION variable=T_vals_chip type=cyclic factor=16 dim=1

    spmm_kernel_copies::load_gmem0(A_pos1, A_pos1_stored, A_pos1_chip);
    spmm_kernel_copies::load_gmem1(A_crd1, A_crd1_stored, A_crd1_chip);
    spmm_kernel_copies::load_gmem2(A_vals, A_vals_stored, A_vals_chip);
    spmm_kernel_copies::load_gmem3(X_vals, X_vals_stored, X_vals_chip);

    // root
    stream<index_t> root("root");
#pragma HLS STREAM variable=root depth=2
    stream<index_t> root_to_A_i("root_to_A_i");
#pragma HLS STREAM variable=root_to_A_i depth=24
    stream<index_t> root_to_X_i("root_to_X_i");
#pragma HLS STREAM variable=root_to_X_i depth=33
    samhw::root(root);
    samhw::copy(root, root_to_A_i, root_to_X_i);

    // i, A: LS(root)
    stream<index_t> A_i_base("A_i_base");
#pragma HLS STREAM variable=A_i_base depth=7
    stream<index_t> A_i_crd("A_i_crd");
#pragma HLS STREAM variable=A_i_crd depth=19
    stream<index_t> A_i_ref("A_i_ref");
#pragma HLS STREAM variable=A_i_ref depth=22
    stream<index_t> A_i_crd_to_T_i("A_i_crd_to_T_i");
#pragma HLS STREAM variable=A_i_crd_to_T_i depth=24
    stream<index_t> A_i_crd_to_X_i("A_i_crd_to_X_i");
#pragma HLS STREAM variable=A_i_crd_to_X_i depth=24
    samhw::scan_dense_scale(root_to_A_i, A_i_base, i_extent);
    samhw::scan_dense_walk(A_i_base, A_i_crd, A_i_ref, i_extent);
    samhw::copy(A_i_crd, A_i_crd_to_T_i, A_i_crd_to_X_i);

    // i, T: LW(T_i)
    samhw::error_code T_i_crd_error;
    samhw::write_dense<node_write_dense_T_i>(A_i_crd_to_T_i, i_extent, T_i_crd_error);

    // i, X: Rep(root)
    stream<index_t> X_i_ref("X_i_ref");
#pragma HLS STREAM variable=X_i_ref depth=7
    samhw::repeat<node_repeat_X_i>(root_to_X_i, A_i_crd_to_X_i, X_i_ref);

    // k, A: LS(<A_i>)
    stream<index_t> A_k_start("A_k_start");
#pragma HLS STREAM variable=A_k_start depth=22
    stream<index_t> A_k_last("A_k_last");
#pragma HLS STREAM variable=A_k_last depth=22
    stream<index_t> A_k_crd("A_k_crd");
#pragma HLS STREAM variable=A_k_crd depth=23
    stream<index_t> A_k_ref("A_k_ref");
#pragma HLS STREAM variable=A_k_ref depth=37
    samhw::scan_compressed_fetch<node_scan_compressed_A_k, A_pos1_words>(A_i_ref, A_k_start, A_k_last, A_pos1_chip);
    samhw::scan_compressed_walk<node_scan_compressed_A_k, A_crd1_words>(A_k_start, A_k_last, A_k_crd, A_k_ref, A_crd1_chip, k_extent);

    // k, X: Locate(<X_i>)
    stream<index_t> X_k_ref("X_k_ref");
#pragma HLS STREAM variable=X_k_ref depth=8
    samhw::locate<node_locate_X_k>(X_i_ref, A_k_crd, X_k_ref, k_extent);

    // j, X: LS(<X_k>)
    stream<index_t> X_j_base("X_j_base");
#pragma HLS STREAM variable=X_j_base depth=7
    stream<index_t> X_j_crd("X_j_crd");
#pragma HLS STREAM variable=X_j_crd depth=19
    stream<index_t> X_j_ref("X_j_ref");
#pragma HLS STREAM variable=X_j_ref depth=22
    stream<index_t> X_j_crd_to_A_j("X_j_crd_to_A_j");
#pragma HLS STREAM variable=X_j_crd_to_A_j depth=24
    stream<index_t> X_j_crd_to_t0("X_j_crd_to_t0");
#pragma HLS STREAM variable=X_j_crd_to_t0 depth=33
    samhw::scan_dense_scale(X_k_ref, X_j_base, j_extent);
    samhw::scan_dense_walk(X_j_base, X_j_crd, X_j_ref, j_extent);
    samhw::copy(X_j_crd, X_j_crd_to_A_j, X_j_crd_to_t0);

    // j, A: Rep(<A_k>)
    stream<index_t> A_j_ref("A_j_ref");
#pragma HLS STREAM variable=A_j_ref depth=5
    samhw::repeat<node_repeat_A_j>(A_k_ref, X_j_crd_to_A_j, A_j_ref);

    // val, A: Val(<A_j>)
    stream<ap_int<32>> A_val("A_val");
#pragma HLS STREAM variable=A_val depth=6
    samhw::array<node_array_A, A_vals_words>(A_j_ref, A_val, A_vals_chip);

    // val, X: Val(<X_j>)
    stream<ap_int<32>> X_val("X_val");
#pragma HLS STREAM variable=X_val depth=10
    samhw::array<node_array_X, X_vals_words>(X_j_ref, X_val, X_vals_chip);

    // val: A_val * X_val
    stream<ap_int<32>> mul_val("mul_val");
#pragma HLS STREAM variable=mul_val depth=7
    samhw::alu<node_mul, samhw::mul>(A_val, X_val, mul_val);

    // j, t0: Red1_k[crd0]
    stream<index_t> t0_addr("t0_addr");
#pragma HLS STREAM variable=t0_addr depth=46
    stream<ap_int<32>> t0_sum("t0_sum");
#pragma HLS STREAM variable=t0_sum depth=46
    stream<index_t> t0_crd0("t0_crd0");
#pragma HLS STREAM variable=t0_crd0 depth=22
    stream<ap_int<32>> t0_val("t0_val");
#pragma HLS STREAM variable=t0_val depth=23
    samhw::reduce_vector_accumulate<node_reduce_vector_t0, samhw::sum, 1, 4>(X_j_crd_to_t0, mul_val, t0_addr, t0_sum);
    samhw::reduce_vector_emit<4>(t0_addr, t0_sum, t0_crd0, t0_val);

    // j, T: LW(T_j)
    unsigned T_pos1_count;
    unsigned T_crd1_count;
    samhw::error_code T_j_crd_error;
    samhw::write_compressed<node_write_compressed_T_j, T_pos1_words, T_crd1_words>(t0_crd0, T_pos1_chip, T_crd1_chip, T_pos1_count, T_crd1_count, T_j_crd_error);

    // val, T: LW(T_val)
    unsigned T_vals_count;
    samhw::error_code T_val_error;
    samhw::write_val<node_write_val_T, T_vals_words>(t0_val, T_vals_chip, T_vals_count, T_val_error);

    unsigned T_pos1_count_told;
    unsigned T_crd1_count_told;
    unsigned T_vals_count_told;
    spmm_kernel_copies::store_gmem2(T_pos1_chip, T_pos1, T_pos1_count, T_pos1_count_told);
    spmm_kernel_copies::store_gmem3(T_crd1_chip, T_crd1, T_crd1_count, T_crd1_count_told);
    spmm_kernel_copies::store_gmem1(T_vals_chip, T_vals, T_vals_count, T_vals_count_told);
    samhw::tell(T_i_crd_error, T_j_crd_error, T_val_error, T_pos1_count_told, T_crd1_count_told, T_vals_count_told, status);
}
