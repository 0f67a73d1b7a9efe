// Host of spmm_kernel for XRT: runs it on a card with the words of a folder, and compares with the golden words there or, with
// --results, writes what comes out.
//
//     spmm_kernel_host XCLBIN [--data FOLDER] [--results FOLDER] [--device NUMBER] [--seconds NUMBER]
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

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

/// What is typed after the file of the card's design.
struct options {
    std::string data = "tb_data"; // The folder with the words of the inputs, and golden ones.
    std::string results;          // A folder for the words of the results; without one they are compared.
    unsigned device = 0;
    unsigned seconds = 60; // How long a kernel may run.
};

static options typed(int argc, char **argv) {
    options found;
    for (int n = 2; n < argc; n += 2) {
        const std::string name = argv[n], value = n + 1 < argc ? argv[n + 1] : "";
        if (name == "--data")
            found.data = value;
        else if (name == "--results")
            found.results = value;
        else if (name == "--device")
            found.device = std::strtoul(value.c_str(), nullptr, 10);
        else if (name == "--seconds")
            found.seconds = std::strtoul(value.c_str(), nullptr, 10);
        if (value.empty() || (name != "--data" && name != "--results" && name != "--device" && name != "--seconds"))
            argc = 0;
    }
    if (argc < 2) {
        std::cerr << "usage: spmm_kernel_host XCLBIN [--data FOLDER] [--results FOLDER] [--device NUMBER] [--seconds NUMBER]\n";
        std::exit(2);
    }
    return found;
}

/// The extents, in the order of the arguments.
static std::vector<std::uint32_t> extents_of(const std::string &data) {
    const std::vector<std::uint32_t> extents = numbers(data + "/extents.txt");
    if (extents.size() != 3) {
        std::cerr << data << "/extents.txt must hold 3 numbers (i, k, j)\n";
        std::exit(2);
    }
    return extents;
}

/// A buffer of the card for the kernel's argument of that number, which begins with some words and goes on with ones.
template <typename W>
static xrt::bo buffer(xrt::device &device, xrt::kernel &kernel, int argument, std::size_t words,
                      const std::vector<std::uint32_t> &content) {
    std::vector<W> filled(words, W(~0u));
    if (content.size() > words) {
        std::cerr << "a file has " << content.size() << " words, and the kernel has room for " << words << "\n";
        std::exit(2);
    }
    for (std::size_t n = 0; n < content.size(); ++n)
        filled[n] = W(content[n]);
    xrt::bo result(device, words * sizeof(W), kernel.group_id(argument));
    result.write(filled.data());
    result.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    return result;
}

/// The words of a buffer.
template <typename W>
static std::vector<W> words_of(xrt::bo &buffer) {
    std::vector<W> words(buffer.size() / sizeof(W));
    buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    buffer.read(words.data());
    return words;
}

/// Counts the words that differ from the golden ones, and those after them that were touched.
template <typename W>
static unsigned differences(const std::string &name, xrt::bo &buffer, std::size_t count, const std::string &path) {
    const std::vector<std::uint32_t> golden = numbers(path);
    std::vector<W> words = words_of<W>(buffer);
    unsigned wrong = 0;
    for (std::size_t n = 0; n < count; ++n) {
        const W expected = n < golden.size() ? W(golden[n]) : W(~0u);
        if (words[n] != expected && ++wrong <= 5)
            std::cerr << name << "[" << n << "] is " << std::uint32_t(words[n]) << ", not " << std::uint32_t(expected) << "\n";
    }
    return wrong;
}

/// Writes the words of a result, a number a line.
template <typename W>
static void save(xrt::bo &buffer, std::size_t count, const std::string &path) {
    std::ofstream file(path);
    const std::vector<W> words = words_of<W>(buffer);
    for (std::size_t n = 0; n < count; ++n)
        file << std::uint32_t(words[n]) << "\n";
    if (!file) {
        std::cerr << path << " cannot be written\n";
        std::exit(2);
    }
}

/// Waits for a kernel, and ends the program with one that takes too long or tells of an error.
static void finish(const std::string &kernel, xrt::run run, xrt::bo &status, unsigned seconds, unsigned region) {
    if (run.wait(std::chrono::milliseconds(seconds * 1000)) != ERT_CMD_STATE_COMPLETED) {
        std::cerr << kernel << " has not ended after " << seconds << " s\n";
        std::exit(1);
    }
    const std::uint32_t error = words_of<std::uint32_t>(status)[0];
    if (error != 0) {
        std::cerr << error_text(error | region << 16) << "\n";
        std::exit(1);
    }
}

int main(int argc, char **argv) {
    const options given = typed(argc, argv);
    const std::string &data = given.data;
    const std::vector<std::uint32_t> extents = extents_of(data);
    xrt::device device(given.device);
    xrt::kernel kernel(device, device.load_xclbin(argv[1]), "spmm_kernel");

    const std::vector<std::uint32_t> A_pos1_content = numbers(data + "/A_pos1.txt");
    auto A_pos1 = buffer<std::uint32_t>(device, kernel, 7, 80, A_pos1_content);
    const std::vector<std::uint32_t> A_crd1_content = numbers(data + "/A_crd1.txt");
    auto A_crd1 = buffer<std::uint32_t>(device, kernel, 8, 256, A_crd1_content);
    const std::vector<std::uint32_t> A_vals_content = numbers(data + "/A_vals.txt");
    auto A_vals = buffer<std::uint32_t>(device, kernel, 9, 256, A_vals_content);
    const std::vector<std::uint32_t> X_vals_content = numbers(data + "/X_vals.txt");
    auto X_vals = buffer<std::uint32_t>(device, kernel, 10, 1024, X_vals_content);
    auto T_pos1 = buffer<std::uint32_t>(device, kernel, 11, 80, {});
    auto T_crd1 = buffer<std::uint32_t>(device, kernel, 12, 1024, {});
    auto T_vals = buffer<std::uint32_t>(device, kernel, 13, 1024, {});
    auto status = buffer<std::uint32_t>(device, kernel, 14, 4, {});

    const auto begin = std::chrono::steady_clock::now();
    finish("spmm_kernel", kernel(extents[0], extents[1], extents[2], std::uint32_t(A_pos1_content.size()), std::uint32_t(A_crd1_content.size()), std::uint32_t(A_vals_content.size()), std::uint32_t(X_vals_content.size()), A_pos1, A_crd1, A_vals, X_vals, T_pos1, T_crd1, T_vals, status), status, given.seconds, 0);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;

    if (!given.results.empty()) {
        save<std::uint32_t>(T_pos1, 65, given.results + "/T_pos1.txt");
        save<std::uint32_t>(T_crd1, 1024, given.results + "/T_crd1.txt");
        save<std::uint32_t>(T_vals, 1024, given.results + "/T_vals.txt");
        std::cout << "spmm_kernel: " << took.count() << " us\n";
        return 0;
    }
    unsigned wrong = 0;
    wrong += differences<std::uint32_t>("T_pos1", T_pos1, 65, data + "/T_pos1.txt");
    wrong += differences<std::uint32_t>("T_crd1", T_crd1, 1024, data + "/T_crd1.txt");
    wrong += differences<std::uint32_t>("T_vals", T_vals, 1024, data + "/T_vals.txt");
    std::cout << "spmm_kernel: " << (wrong == 0 ? "PASS" : "FAIL") << ", " << took.count() << " us\n";
    return wrong == 0 ? 0 : 1;
}
