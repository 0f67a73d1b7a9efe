// Self-checking testbench of spmm_kernel: runs it on the words of a folder and compares with the golden words there.
//
//     spmm_kernel_test [DATA [RESULTS [tokens]]]
//
// DATA is tb_data by default. In RESULTS, a folder, it leaves the words as binary files and, with SAMHW_CSIM, how full each
// stream was and, if asked, its tokens.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "spmm_kernel.hpp"

static const char *const spmm_kernel_names[] = {
    "root",
    "scan_dense_A_i",
    "write_dense_T_i",
    "repeat_X_i",
    "scan_compressed_A_k",
    "locate_X_k",
    "scan_dense_X_j",
    "repeat_A_j",
    "array_A",
    "array_X",
    "mul",
    "reduce_vector_t0",
    "write_compressed_T_j",
    "write_val_T",
};

/// The names of the nodes, in the order of their numbers.
static const char *const *const node_names[] = {spmm_kernel_names};

/// The error that the word `status` tells of: its cause, as samhw/token.hpp numbers them, and the node that met it.
static std::string error_text(unsigned status) {
    const unsigned cause = status & 15, node = status >> 4 & 0xfff, region = status >> 16;
    const std::string what = cause == 1 ? "overflow" : cause == 2 ? "capacity"
                                                   : cause == 8   ? "range"
                                                                  : "protocol";
    return what + " error at node " + node_names[region][node];
}

/// The numbers of a text file.
static std::vector<std::uint32_t> numbers(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        std::cerr << path << " cannot be read\n";
        std::exit(2);
    }
    std::vector<std::uint32_t> result;
    for (std::uint32_t number; file >> number;)
        result.push_back(number);
    return result;
}
#ifdef SAMHW_CSIM

/// The streams in the order of their declaration: depth, number of the writing process, number of the reading one.
static const std::vector<samhw::link> streams = {
    {"root", 2, 0, 1},
    {"root_to_A_i", 24, 1, 2},
    {"root_to_X_i", 33, 1, 6},
    {"A_i_base", 7, 2, 3},
    {"A_i_crd", 19, 3, 4},
    {"A_i_ref", 22, 3, 7},
    {"A_i_crd_to_T_i", 24, 4, 5},
    {"A_i_crd_to_X_i", 24, 4, 6},
    {"X_i_ref", 7, 6, 9},
    {"A_k_start", 22, 7, 8},
    {"A_k_last", 22, 7, 8},
    {"A_k_crd", 23, 8, 9},
    {"A_k_ref", 37, 8, 13},
    {"X_k_ref", 8, 9, 10},
    {"X_j_base", 7, 10, 11},
    {"X_j_crd", 19, 11, 12},
    {"X_j_ref", 22, 11, 15},
    {"X_j_crd_to_A_j", 24, 12, 13},
    {"X_j_crd_to_t0", 33, 12, 17},
    {"A_j_ref", 5, 13, 14},
    {"A_val", 6, 14, 16},
    {"X_val", 10, 15, 16},
    {"mul_val", 7, 16, 17},
    {"t0_addr", 46, 17, 18},
    {"t0_sum", 46, 17, 18},
    {"t0_crd0", 22, 18, 19},
    {"t0_val", 23, 18, 20},
};
#endif

/// Counts the words that differ from the golden ones, and those after them that were touched.
template <typename W>
static unsigned differences(const std::string &name, const std::vector<W> &words, const std::string &path) {
    const std::vector<std::uint32_t> golden = numbers(path);
    unsigned wrong = 0;
    for (std::size_t n = 0; n < words.size(); ++n) {
        const W expected = n < golden.size() ? W(golden[n]) : W(~0u);
        if (words[n] != expected && ++wrong <= 5)
            std::cerr << name << "[" << n << "] is " << words[n].to_uint() << ", not " << expected.to_uint() << "\n";
    }
    return wrong;
}

/// The lines of a memory of that many words that begins with some content. What is beyond it are ones.
template <typename W>
static std::vector<samhw::line_t> memory(const std::vector<std::uint32_t> &content, std::size_t words) {
    const std::size_t in_line = samhw::line_t::width / W::width;
    std::vector<samhw::line_t> lines((words + in_line - 1) / in_line, ~samhw::line_t(0));
    for (std::size_t n = 0; n < content.size() && n < words; ++n)
        lines[n / in_line].range((n % in_line + 1) * W::width - 1, n % in_line * W::width) = W(content[n]);
    return lines;
}

/// The first words of lines.
template <typename W>
static std::vector<W> words_of(const std::vector<samhw::line_t> &lines, std::size_t count) {
    const std::size_t in_line = samhw::line_t::width / W::width;
    std::vector<W> words(count);
    for (std::size_t n = 0; n < count; ++n)
        words[n] = lines[n / in_line].range((n % in_line + 1) * W::width - 1, n % in_line * W::width);
    return words;
}

template <typename T>
static void save(const std::string &path, const std::vector<T> &words) {
    std::ofstream file(path, std::ios::binary);
    for (const T &word : words) {
        const std::uint64_t plain = word;
        file.write(reinterpret_cast<const char *>(&plain), sizeof plain);
    }
}
#ifdef SAMHW_CSIM

/// Writes what has gone to and from a memory: bursts and lines that were read, and those that were written.
static void count(std::ostream &to, const std::string &name, const samhw::traffic &moved) {
    to << name << " " << moved.read_bursts << " " << moved.read_lines << " " << moved.write_bursts << " " << moved.write_lines << "\n";
}

/// Runs what was recorded once more with streams of the emitted depths; says whether it comes to its end.
static bool depths_suffice(const std::string &results) {
    const samhw::recorder &log = samhw::recorder::instance();
    samhw::replay bounded(log);
    const bool ends = bounded.run();
    if (!ends) {
        std::cerr << "deadlock: with the emitted depths, processes wait for these streams:\n";
        bounded.print_waiting(stderr);
    }
    for (const samhw::stage_order order : {samhw::AS_CALLED, samhw::REVERSED, samhw::SCATTERED}) {
        samhw::held_replay pipelines(log, 16, order);
        if (ends && !pipelines.run()) {
            std::cerr << "deadlock: with what stopped pipelines keep, processes wait for these streams:\n";
            pipelines.print_waiting(stderr);
            return false;
        }
    }
    if (!results.empty()) {
        std::ofstream marks(results + "/streams.txt");
        for (std::size_t s = 0; s < streams.size(); ++s) {
            marks << streams[s].name << " " << streams[s].depth << " " << bounded.high_water(s) << "\n";
            if (!log.tokens.empty())
                save(results + "/" + std::to_string(s) + ".tokens", log.tokens[s]);
        }
    }
    return ends;
}
#endif

int main(int argc, char **argv) {
    const std::string data = argc > 1 ? argv[1] : "tb_data";
    const std::string results = argc > 2 ? argv[2] : "";
    const std::vector<std::uint32_t> extents = numbers(data + "/extents.txt");
    if (extents.size() != 3) {
        std::cerr << data << "/extents.txt must hold 3 numbers (i, k, j)\n";
        return 2;
    }
    const std::vector<std::uint32_t> A_pos1_content = numbers(data + "/A_pos1.txt");
    auto A_pos1 = memory<index_word>(A_pos1_content, A_pos1_words);
    const std::vector<std::uint32_t> A_crd1_content = numbers(data + "/A_crd1.txt");
    auto A_crd1 = memory<index_word>(A_crd1_content, A_crd1_words);
    const std::vector<std::uint32_t> A_vals_content = numbers(data + "/A_vals.txt");
    auto A_vals = memory<ap_uint<32>>(A_vals_content, A_vals_words);
    const std::vector<std::uint32_t> X_vals_content = numbers(data + "/X_vals.txt");
    auto X_vals = memory<ap_uint<32>>(X_vals_content, X_vals_words);
    auto T_pos1 = memory<index_word>({}, T_pos1_words);
    auto T_crd1 = memory<index_word>({}, T_crd1_words);
    auto T_vals = memory<ap_uint<32>>({}, T_vals_words);
    samhw::status_word status[4] = {};

#ifdef SAMHW_CSIM
    samhw::memories()[A_pos1.data()] = {A_pos1.size(), 128, 0, 0, 0, 0};
    samhw::memories()[A_crd1.data()] = {A_crd1.size(), 256, 0, 0, 0, 0};
    samhw::memories()[A_vals.data()] = {A_vals.size(), 256, 0, 0, 0, 0};
    samhw::memories()[X_vals.data()] = {X_vals.size(), 256, 0, 0, 0, 0};
    samhw::memories()[T_pos1.data()] = {T_pos1.size(), 128, 0, 0, 0, 0};
    samhw::memories()[T_crd1.data()] = {T_crd1.size(), 256, 0, 0, 0, 0};
    samhw::memories()[T_vals.data()] = {T_vals.size(), 256, 0, 0, 0, 0};
    samhw::recorder::instance().start(streams, 21, argc > 3 && std::string(argv[3]) == "tokens");
#endif
    spmm_kernel(extents[0], extents[1], extents[2], unsigned(A_pos1_content.size()), unsigned(A_crd1_content.size()), unsigned(A_vals_content.size()), unsigned(X_vals_content.size()), A_pos1.data(), A_crd1.data(), A_vals.data(), X_vals.data(), T_pos1.data(), T_crd1.data(), T_vals.data(), status);

    if (!results.empty()) {
        save(results + "/T_pos1.bin", words_of<index_word>(T_pos1, T_pos1_words));
        save(results + "/T_crd1.bin", words_of<index_word>(T_crd1, T_crd1_words));
        save(results + "/T_vals.bin", words_of<ap_uint<32>>(T_vals, T_vals_words));
    }
    if (status[0] != 0) {
        std::cerr << error_text(status[0].to_uint()) << "\n";
        return 1;
    }
    bool good = true;
#ifdef SAMHW_CSIM
    good = depths_suffice(results);
    std::ofstream bursts(results.empty() ? "/dev/null" : results + "/bursts.txt");
    count(bursts, "A_pos1", samhw::memories()[A_pos1.data()]);
    count(bursts, "A_crd1", samhw::memories()[A_crd1.data()]);
    count(bursts, "A_vals", samhw::memories()[A_vals.data()]);
    count(bursts, "X_vals", samhw::memories()[X_vals.data()]);
    count(bursts, "T_pos1", samhw::memories()[T_pos1.data()]);
    count(bursts, "T_crd1", samhw::memories()[T_crd1.data()]);
    count(bursts, "T_vals", samhw::memories()[T_vals.data()]);
#endif
    unsigned wrong = 0;
    wrong += differences("T_pos1", words_of<index_word>(T_pos1, T_pos1_words), data + "/T_pos1.txt");
    wrong += differences("T_crd1", words_of<index_word>(T_crd1, T_crd1_words), data + "/T_crd1.txt");
    wrong += differences("T_vals", words_of<ap_uint<32>>(T_vals, T_vals_words), data + "/T_vals.txt");
    good = good && wrong == 0;
    std::cout << "spmm_kernel: " << (good ? "PASS" : "FAIL") << "\n";
    return good ? 0 : 1;
}
