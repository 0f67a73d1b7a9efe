// C simulation that honours the depths of the streams. Never synthesised: only with SAMHW_CSIM.
//
// hls::stream is an unbounded queue here, and the calls of a DATAFLOW region run one after another. That gives the
// tokens of the real design, since no node looks at the time, but it says nothing of FIFOs that fill up. So every
// read and write is recorded, and afterwards the recorded sequences run side by side with bounded streams.
#ifndef SAMHW_CSIM_HPP
#define SAMHW_CSIM_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "token.hpp"

namespace samhw {

/// A stream of the emitted design: its depth, and the numbers of the processes that write and read it.
struct link {
    const char *name;
    unsigned depth;
    unsigned writer;
    unsigned reader;
};

/// The operations of a run: for each process, the streams that it reads and writes, in order, and where its iterations
/// begin. Streams are numbered as they are declared.
class recorder {
  public:
    /// Twice the number of a stream, plus one for a write.
    typedef std::uint16_t operation;
    /// An iteration begins; the next read is one for which the pipeline stops.
    enum : operation {
        iteration = 0xffff,
        stops = 0xfffe
    };

    static recorder &instance() {
        static recorder only;
        return only;
    }

    /// Starts a recording. Tokens are kept on request, since they take four times the room of operations.
    void start(const std::vector<link> &streams, unsigned processes, bool keep_tokens) {
        links = streams;
        work.assign(processes, {});
        tokens.assign(keep_tokens ? streams.size() : 0, {});
        declared = 0;
        polled.assign(streams.size(), false);
        leading.assign(processes, unsigned(streams.size()));
    }

    unsigned declare() { return declared++; }

    /// A region that is run again declares its streams once more, of which this is the first.
    void enter(unsigned first) { declared = first; }

    /// A process looks whether a token has come. The stream at which it looked first tells its iterations apart.
    void poll(unsigned stream) {
        const unsigned process = links[stream].reader;
        polled[stream] = true;
        if (leading[process] == links.size())
            leading[process] = stream;
        if (leading[process] == stream)
            work[process].push_back(iteration);
    }

    void read(unsigned stream) {
        std::vector<operation> &own = work[links[stream].reader];
        if (!polled[stream])
            own.push_back(stops);
        polled[stream] = false;
        own.push_back(stream << 1);
    }

    void write(unsigned stream, unsigned kind, std::uint64_t payload) {
        work[links[stream].writer].push_back(stream << 1 | 1);
        if (!tokens.empty())
            tokens[stream].push_back(std::uint64_t(kind) << 32 | payload);
    }

    std::vector<link> links;
    std::vector<std::vector<operation>> work;
    std::vector<std::vector<std::uint64_t>> tokens;

  private:
    unsigned declared = 0;
    std::vector<bool> polled;
    std::vector<unsigned> leading;
};

/// An hls::stream that records what happens to it.
template <typename T>
class recorded_stream : public hls::stream<token<T>> {
    typedef hls::stream<token<T>> base;

  public:
    explicit recorded_stream(const char *name) : base(name), number(recorder::instance().declare()) {}

    token<T> read() {
        insist();
        recorder::instance().read(number);
        return base::read();
    }

    /// What a process would do early, it does late here: what is recorded must be possible whatever the others do.
    bool empty() { return true; }

    /// Whether a token has come that an iteration waits for, without its pipeline.
    bool has_come() {
        insist();
        recorder::instance().poll(number);
        return true;
    }

    bool read_nb(token<T> &head) {
        insist();
        recorder::instance().poll(number);
        head = read();
        return true;
    }

    /// Reads a token that counts as read only if the process takes it.
    bool look(token<T> &head) {
        insist();
        head = base::read();
        looked_at = true;
        return true;
    }

    void note_taken() {
        if (looked_at) {
            recorder::instance().poll(number);
            recorder::instance().read(number);
        }
        looked_at = false;
    }

    void write(const token<T> &t) {
        recorder::instance().write(number, t.kind.to_uint(), t.payload.to_uint64());
        base::write(t);
    }

  private:
    /// Processes run one after another, so that a token that has not come never will.
    void insist() {
        if (base::empty()) {
            std::fprintf(stderr, "%s is read while empty\n", recorder::instance().links[number].name);
            std::exit(2);
        }
    }

    unsigned number;
    bool looked_at = false;
};

/// Runs the recorded operations of all processes side by side, each stream holding at most `depth` tokens.
class replay {
  public:
    explicit replay(const recorder &recorded)
        : log(recorded), next(log.work.size(), 0), queued(log.work.size(), false), taken(log.links.size(), 0), high(taken) {}

    /// Whether every process comes to its end.
    bool run() {
        for (unsigned p = 0; p < log.work.size(); ++p)
            skip(p);
        // Processes are numbered along the flow. The last that can go on goes on: so a token waits in a stream only
        // where it must, and `high` is what the design needs, not what a hasty producer would fill.
        for (unsigned p = 0; p < log.work.size(); ++p)
            wake(p);
        while (!ready.empty()) {
            const unsigned p = ready.top();
            ready.pop();
            queued[p] = false;
            advance(p);
        }
        for (unsigned p = 0; p < log.work.size(); ++p)
            if (next[p] < log.work[p].size())
                return false;
        return true;
    }

    /// Prints, for each process that waits, the stream for which it does.
    void print_waiting(std::FILE *file) const {
        for (unsigned p = 0; p < log.work.size(); ++p)
            if (next[p] < log.work[p].size()) {
                const unsigned operation = log.work[p][next[p]];
                std::fprintf(file, "  %s is %s\n", log.links[operation >> 1].name, operation & 1 ? "full" : "empty");
            }
    }

    /// The most tokens that were in a stream.
    unsigned high_water(unsigned stream) const { return high[stream]; }

  private:
    /// Leaves out what only tells of iterations.
    void skip(unsigned p) {
        while (next[p] < log.work[p].size() && log.work[p][next[p]] >= recorder::stops)
            ++next[p];
    }

    void wake(unsigned p) {
        if (!queued[p] && next[p] < log.work[p].size())
            ready.push(p);
        queued[p] = queued[p] || next[p] < log.work[p].size();
    }

    /// Runs a process until it waits, or has brought a later one to life.
    void advance(unsigned p) {
        while (next[p] < log.work[p].size()) {
            const unsigned operation = log.work[p][next[p]], s = operation >> 1;
            const link &stream = log.links[s];
            if (operation & 1 ? taken[s] == stream.depth : taken[s] == 0)
                return;
            ++next[p];
            skip(p);
            if (operation & 1) {
                high[s] = std::max(high[s], ++taken[s]);
                if (taken[s] == 1) {
                    wake(stream.reader);
                    wake(p);
                    return;
                }
            } else if (taken[s]-- == stream.depth) {
                wake(stream.writer);
            }
        }
    }

    const recorder &log;
    std::vector<std::size_t> next;
    std::vector<bool> queued;
    std::vector<unsigned> taken, high;
    std::priority_queue<unsigned> ready;
};

} // namespace samhw

#include "pipelines_csim.hpp"

#endif
