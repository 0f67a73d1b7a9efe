// C simulation of pipelines that keep tokens. Never synthesised: only with SAMHW_CSIM.
//
// A stalled pipeline (style=stp) stands still as a whole: where one of its stages waits, at a stream that is full or in a read
// that is not polled, all that the stages after it would write stays in it. The recorded iterations run through such
// pipelines here.
#ifndef SAMHW_PIPELINES_CSIM_HPP
#define SAMHW_PIPELINES_CSIM_HPP

#include "csim.hpp"

namespace samhw {

/// In which order the stages of a pipeline write the outputs of an iteration.
enum stage_order {
    AS_CALLED,
    REVERSED,
    SCATTERED
};

/// Runs the recorded iterations of all processes side by side. Each is read in the first stage of its process, and each output
/// is written in a stage of its own, up to `spread` stages later. Producers run as far as they can, so that pipelines are full
/// when they stop.
class held_replay {
  public:
    held_replay(const recorder &recorded, unsigned stages, stage_order order)
        : log(recorded), spread(stages), taken(log.links.size(), 0), stage(log.links.size(), 0), processes(log.work.size()),
          queued(log.work.size(), false) {
        std::vector<unsigned> outputs(log.work.size(), 0);
        for (const link &stream : log.links)
            ++outputs[stream.writer];
        std::vector<unsigned> before(log.work.size(), 0);
        for (unsigned s = 0; s < log.links.size(); ++s) {
            const unsigned n = outputs[log.links[s].writer], k = before[log.links[s].writer]++;
            const unsigned along = order == SCATTERED ? (k * 7 + 3) % n : k;
            stage[s] = n == 1 ? spread : spread * (order == REVERSED ? n - 1 - along : along) / (n - 1);
        }
    }

    /// Whether every process comes to its end.
    bool run() {
        for (unsigned p = 0; p < processes.size(); ++p)
            wake(p);
        while (!ready.empty()) {
            const unsigned p = ready.top();
            ready.pop();
            queued[p] = false;
            while (step(p)) {
            }
        }
        for (unsigned p = 0; p < processes.size(); ++p)
            if (!is_over(p))
                return false;
        return true;
    }

    /// Prints, for each process that waits, the stream for which it does.
    void print_waiting(std::FILE *file) const {
        for (unsigned p = 0; p < processes.size(); ++p)
            if (!is_over(p) && processes[p].waits_for < 2 * log.links.size())
                std::fprintf(file, "  %s is %s\n", log.links[processes[p].waits_for >> 1].name,
                             processes[p].waits_for & 1 ? "full" : "empty");
    }

  private:
    struct entry {
        std::size_t begin, end; // Of its operations.
        unsigned age;           // Stages that it has passed.
    };

    struct process {
        std::size_t next = 0; // Its first operation that is in no iteration yet.
        std::deque<entry> inside;
        unsigned waits_for = ~0u;
    };

    bool is_over(unsigned p) const { return processes[p].next == log.work[p].size() && processes[p].inside.empty(); }

    void wake(unsigned p) {
        if (!queued[p] && !is_over(p))
            ready.push(p);
        queued[p] = true;
    }

    /// Where the iteration that begins at an operation ends: at the next one, or before a stream that it has used.
    std::size_t end_of(unsigned p, std::size_t begin) const {
        const std::vector<recorder::operation> &work = log.work[p];
        std::size_t end = begin;
        for (; end < work.size(); ++end) {
            if (work[end] == recorder::iteration && end > begin)
                break;
            if (work[end] < recorder::stops)
                for (std::size_t n = begin; n < end; ++n)
                    if (work[n] == work[end])
                        return end - (work[end - 1] == recorder::stops);
        }
        return end;
    }

    /// Whether the heads that an iteration reads have come; else `stops` says whether its pipeline stands still until then.
    bool has_heads(unsigned p, const entry &own, bool &stops) {
        bool all = true, stopping = false;
        stops = false;
        for (std::size_t n = own.begin; n < own.end; ++n) {
            const recorder::operation what = log.work[p][n];
            if (what < recorder::stops && !(what & 1) && taken[what >> 1] == 0) {
                all = false;
                stops |= stopping;
                processes[p].waits_for = what;
            }
            stopping = what == recorder::stops;
        }
        return all;
    }

    /// A clock of a process, if something happens in it.
    bool step(unsigned p) {
        process &own = processes[p];
        const std::vector<recorder::operation> &work = log.work[p];
        own.waits_for = ~0u;
        bool begins = false, stops = false;
        entry fresh = {own.next, own.next, 0};
        if (own.next < work.size()) {
            fresh.end = end_of(p, own.next);
            begins = has_heads(p, fresh, stops);
        }
        if (stops || (!begins && own.inside.empty()))
            return false;
        if (begins)
            own.inside.push_back(fresh);
        // All writes of this clock, or none.
        for (const entry &e : own.inside)
            for (std::size_t n = e.begin; n < e.end; ++n)
                if (is_due(work[n], e.age) && taken[work[n] >> 1] >= log.links[work[n] >> 1].depth) {
                    own.waits_for = work[n];
                    if (begins)
                        own.inside.pop_back();
                    return false;
                }
        if (begins) {
            own.next = fresh.end;
            for (std::size_t n = fresh.begin; n < fresh.end; ++n)
                if (work[n] < recorder::stops && !(work[n] & 1) && taken[work[n] >> 1]-- >= log.links[work[n] >> 1].depth)
                    wake(log.links[work[n] >> 1].writer);
        }
        for (entry &e : own.inside) {
            for (std::size_t n = e.begin; n < e.end; ++n)
                if (is_due(work[n], e.age) && taken[work[n] >> 1]++ == 0)
                    wake(log.links[work[n] >> 1].reader);
            ++e.age;
        }
        while (!own.inside.empty() && own.inside.front().age > spread)
            own.inside.pop_front();
        return true;
    }

    bool is_due(recorder::operation what, unsigned age) const {
        return what < recorder::stops && (what & 1) && stage[what >> 1] == age;
    }

    const recorder &log;
    const unsigned spread;
    std::vector<unsigned> taken, stage;
    std::vector<process> processes;
    std::vector<bool> queued;
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>> ready;
};

} // namespace samhw

#endif
