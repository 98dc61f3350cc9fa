/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protoset.S - the compiled interface description, for reflection; built with -Wa,-Ibuild/gen */
	.section .rodata
	.global schedd_protoset_start
	.type schedd_protoset_start, @object
	.global schedd_protoset_end
	.type schedd_protoset_end, @object
	.balign 16
schedd_protoset_start:
	.incbin "schedd.protoset"
schedd_protoset_end:
	.byte 0
	.size schedd_protoset_start, schedd_protoset_end - schedd_protoset_start
	.size schedd_protoset_end, 1
	.section .note.GNU-stack, "", @progbits
