/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lease.c - which CPUs of a plan are whose by lease, and how far each lease is */
#include "daemon/lease.h"

#include <string.h>

/* ---------- which CPUs ---------- */

/* What is left to be given out of each class, while the CPUs of a plan are split. */
struct split {
	const struct state *s;
	const struct lease_owners *plan;
	uint16_t *lease;                       /* the result */
	uint32_t own[SCHEDD_MAX_CLASSES];      /* CPUs that stay the class's own */
	uint32_t spare[SCHEDD_MAX_CLASSES];    /* CPUs for leases */
	size_t next[SCHEDD_MAX_CLASSES];       /* lease that is served now */
	uint32_t lacks[SCHEDD_MAX_CLASSES];    /* CPUs that it still needs */
};

static void split_init(struct split *p)
{
	uint32_t owned[SCHEDD_MAX_CLASSES] = { 0 };

	memset(p->lease, 0, SCHEDD_MAX_CPUS * sizeof(*p->lease));
	for (uint32_t cpu = 0; cpu < p->plan->nr_cpus; cpu++) {
		uint8_t owner = p->plan->owner[cpu];

		if (owner && owner <= SCHEDD_MAX_CLASSES)
			owned[owner - 1]++;
	}
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *c = &p->s->classes[i];
		/* Where guarantees are scaled the leases come first: they are what somebody waits for. */
		uint32_t own =
			c->effective_guarantee_cpus > c->leased_cpus ? c->effective_guarantee_cpus - c->leased_cpus : 0;

		p->own[i] = own < owned[i] ? own : owned[i];
		p->spare[i] = owned[i] - p->own[i];
	}
}

static bool is_on_node(const struct split *p, uint32_t cpu, uint32_t node)
{
	return cpu < p->plan->topo->nr_possible && p->plan->topo->cpus[cpu].node == node;
}

/* Returns how many CPUs of its node the lease got. */
static uint32_t take_on_node(struct split *p, size_t index, uint32_t class_idx)
{
	const struct state_lease *l = &p->s->leases[index];
	uint32_t got = 0;

	for (uint32_t cpu = 0; cpu < p->plan->nr_cpus && got < l->granted_cpus && p->spare[class_idx]; cpu++) {
		if (p->plan->owner[cpu] != class_idx + 1 || p->lease[cpu] || !is_on_node(p, cpu, l->numa_node))
			continue;
		p->lease[cpu] = (uint16_t)(index + 1);
		p->spare[class_idx]--;
		got++;
	}
	return got;
}

/* The next lease of the class that still lacks CPUs. */
static bool serve_next(struct split *p, uint32_t class_idx, const uint16_t *got)
{
	const char *name = p->s->classes[class_idx].name;

	for (; !p->lacks[class_idx] && p->next[class_idx] < p->s->nr_leases; p->next[class_idx]++) {
		const struct state_lease *l = &p->s->leases[p->next[class_idx]];

		if (strcmp(l->class_name, name) == 0)
			p->lacks[class_idx] = l->granted_cpus - got[p->next[class_idx]];
	}
	return p->lacks[class_idx];
}

static void take_rest(struct split *p, const uint16_t *got)
{
	for (uint32_t cpu = 0; cpu < p->plan->nr_cpus; cpu++) {
		uint8_t owner = p->plan->owner[cpu];
		uint32_t i = owner - 1u;

		if (!owner || owner > SCHEDD_MAX_CLASSES || p->lease[cpu])
			continue;
		if (p->own[i]) {
			p->own[i]--;
			continue;
		}
		if (!p->spare[i] || !serve_next(p, i, got))
			continue;
		/* serve_next() stands behind the lease that it found. */
		p->lease[cpu] = (uint16_t)p->next[i];
		p->lacks[i]--;
		p->spare[i]--;
	}
}

void lease_split(const struct state *s, const struct lease_owners *plan, uint16_t ret_lease[SCHEDD_MAX_CPUS])
{
	struct split p = { .s = s, .plan = plan, .lease = ret_lease };
	uint16_t got[STATE_MAX_LEASES] = { 0 };

	split_init(&p);
	for (size_t i = 0; plan->topo && i < s->nr_leases; i++) {
		int class_idx = state_find_class(s, s->leases[i].class_name);

		if (s->leases[i].has_numa_node && class_idx >= 0)
			got[i] = (uint16_t)take_on_node(&p, i, (uint32_t)class_idx);
	}
	take_rest(&p, got);
}

uint32_t lease_cpus(const struct state *s, const struct lease_owners *plan, const struct state_lease *lease,
		    uint32_t *ret_cpus)
{
	uint16_t split[SCHEDD_MAX_CPUS];
	uint32_t n = 0;

	lease_split(s, plan, split);
	for (uint32_t cpu = 0; cpu < plan->nr_cpus; cpu++)
		if (split[cpu] && &s->leases[split[cpu] - 1] == lease)
			ret_cpus[n++] = cpu;
	return n;
}

/* ---------- how far ---------- */

/* The CPUs of one lease now, as bits. */
struct lease_now {
	uint64_t cpus[SCHEDD_MAX_CPUS / 64];
	uint32_t nr_cpus;
	bool all_ran;
};

static bool is_free_for(const struct lease_input *in, uint32_t cpu, uint32_t class_idx)
{
	return in->holder[cpu] == class_idx + 1 || (!in->holder[cpu] && !in->waiting[class_idx]);
}

static void look(const struct state_lease *l, const struct lease_input *in, const uint16_t *split, size_t index,
		 uint32_t class_idx, struct lease_now *ret)
{
	*ret = (struct lease_now){ .all_ran = true };
	for (uint32_t cpu = 0; cpu < in->plan.nr_cpus; cpu++) {
		uint64_t bit = UINT64_C(1) << cpu % 64;

		if (split[cpu] != index + 1)
			continue;
		ret->nr_cpus++;
		if (!l->is_running && ((l->ran[cpu / 64] & bit) || is_free_for(in, cpu, class_idx)))
			ret->cpus[cpu / 64] |= bit;
		else if (!l->is_running)
			ret->all_ran = false;
	}
}

/* The latches of CPUs that the plan exchanged go with them. */
static bool set_owned(struct state_lease *l, const struct lease_input *in, const struct lease_now *now)
{
	bool owned = now->nr_cpus >= l->granted_cpus && in->limits_generation >= l->limits_generation;
	bool changed = owned != l->is_owned;

	l->is_owned = owned;
	if (!owned) {
		l->is_running = false;
		memset(l->ran, 0, sizeof(l->ran));
		return changed;
	}
	l->plan_generation = changed ? in->plan_generation : l->plan_generation;
	if (l->was_owned)
		return changed;
	l->was_owned = true;
	l->owned_after_ns = in->boottime_ns - l->arrive_boottime_ns;
	return true;
}

static bool set_running(struct state_lease *l, const struct lease_input *in, const struct lease_now *now)
{
	if (!l->is_owned || l->is_running)
		return false;
	memcpy(l->ran, now->cpus, sizeof(l->ran));
	l->is_running = now->all_ran;
	if (l->is_running && !l->was_running) {
		l->was_running = true;
		l->running_after_ns = in->boottime_ns - l->arrive_boottime_ns;
	}
	return l->is_running;
}

bool lease_progress(struct state *s, const struct lease_input *in)
{
	uint16_t split[SCHEDD_MAX_CPUS];
	bool changed = false;

	if (!s->nr_leases)
		return false;
	lease_split(s, &in->plan, split);
	for (size_t i = 0; i < s->nr_leases; i++) {
		struct state_lease *l = &s->leases[i];
		int class_idx = state_find_class(s, l->class_name);
		struct lease_now now = { 0 };

		if (class_idx >= 0)
			look(l, in, split, i, (uint32_t)class_idx, &now);
		changed |= set_owned(l, in, &now);
		changed |= set_running(l, in, &now);
	}
	if (changed)
		s->lease_revision++;
	return changed;
}

bool lease_wants_holders(const struct state *s)
{
	for (size_t i = 0; i < s->nr_leases; i++)
		if (!s->leases[i].is_running)
			return true;
	return false;
}

bool lease_is_there(const struct state_lease *lease, enum lease_wait wait_for)
{
	return wait_for == LEASE_WAIT_RUNNING ? lease->is_running : wait_for != LEASE_WAIT_OWNED || lease->is_owned;
}

enum lease_state lease_state_of(const struct state_lease *lease)
{
	if (lease->granted_cpus < lease->requested_cpus)
		return LEASE_PARTIAL;
	return lease->is_running ? LEASE_RUNNING : lease->is_owned ? LEASE_OWNED : LEASE_ACCEPTED;
}
