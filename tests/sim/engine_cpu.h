/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine_cpu.h - what a CPU of the engine does, and what its services and best-effort see of it; engine.c's alone */
#ifndef SIM_ENGINE_CPU_H
#define SIM_ENGINE_CPU_H

#include "engine.h"

/* Every change of a state is a leave and an enter: clocks, masks and counts are kept there only. */
void cpu_leave(struct engine *e, uint32_t cpu);
void cpu_enter(struct engine *e, uint32_t cpu, enum cpu_state state, uint32_t class_idx);

void cpu_serve(struct engine *e, uint32_t cpu, struct engine_service *s, const struct request *r); /* after a leave */
void cpu_finish(struct engine *e, uint32_t cpu);                /* its event is due */
void cpu_move(struct engine *e, uint32_t cpu, uint8_t owner);   /* another owner: class index + 1 or 0 */

void batch_wait(struct engine *e, uint32_t llc);                /* one more endless task waits */

void service_wait(struct engine *e, struct engine_service *s, const struct request *r);
void service_record_start(struct engine *e, struct engine_service *s, struct request *r);
void service_call(struct engine *e, struct engine_service *s);  /* as many CPUs as requests wait */
bool service_call_one(struct engine *e, struct engine_service *s);
void service_count_owned(struct engine *e, struct engine_service *s);

/* CPUs that serve it or will at once. */
static inline uint32_t service_on(const struct engine_service *s)
{
	return s->nr_serving + s->nr_called + s->nr_ready;
}

#endif
