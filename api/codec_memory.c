/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_memory.c - an allocator for unpacking that refuses more than its cap */
#include <stdlib.h>

#include "api/codec_private.h"

/* Kept before each allocation; as large as the strictest alignment, so what follows stays aligned. */
struct memory_header {
	_Alignas(max_align_t) size_t size;
};

static void *memory_alloc(void *data, size_t size)
{
	struct codec_memory *memory = data;
	struct memory_header *header;

	/* What was freed meanwhile still counts: repeating a oneof must not be a way around the cap. */
	if (size > memory->cap_bytes || memory->used_bytes > memory->cap_bytes - size) {
		memory->capped = true;
		return NULL;
	}
	header = malloc(sizeof(*header) + size);
	if (!header)
		return NULL;
	memory->used_bytes += size;
	header->size = size;
	return header + 1;
}

static void memory_free(void *data, void *p)
{
	(void)data;
	if (p)
		free((struct memory_header *)p - 1);
}

void codec_memory_allocator(struct codec_memory *memory, ProtobufCAllocator *ret_allocator)
{
	*ret_allocator = (ProtobufCAllocator){ .alloc = memory_alloc, .free = memory_free, .allocator_data = memory };
}

size_t codec_memory_size(const void *p)
{
	return ((const struct memory_header *)p - 1)->size;
}

void *codec_unpack(struct codec_memory *memory, const ProtobufCMessageDescriptor *descriptor, const void *bytes,
		   size_t size)
{
	ProtobufCAllocator allocator;

	memory->capped = false;
	codec_memory_allocator(memory, &allocator);
	return protobuf_c_message_unpack(descriptor, &allocator, size, bytes);
}

void codec_unpack_free(struct codec_memory *memory, void *message)
{
	ProtobufCAllocator allocator;

	codec_memory_allocator(memory, &allocator);
	protobuf_c_message_free_unpacked(message, &allocator);
}
