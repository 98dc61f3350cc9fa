/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reason.h - ErrorInfo.reason of requests that never become a command
 *
 * Continues the closed list of daemon/command_reason.h; the same rules hold.
 */
#ifndef SCHEDD_API_REASON_H
#define SCHEDD_API_REASON_H

#include "daemon/command_reason.h"

#define API_REASON_MALFORMED_REQUEST "MALFORMED_REQUEST" /* not a message of the expected type */
#define API_REASON_REQUEST_MISSING "REQUEST_MISSING"     /* the call carried no message */
#define API_REASON_REQUEST_TOO_BIG "REQUEST_TOO_BIG"     /* would take more memory than a request may */
#define API_REASON_UNKNOWN_METHOD "UNKNOWN_METHOD"       /* no such service or method */
#define API_REASON_UNKNOWN_SERVICE "UNKNOWN_SERVICE"     /* grpc.health.v1: not a service of this server */
#define API_REASON_QUEUE_FULL "QUEUE_FULL"               /* too many calls wait; try again */
#define API_REASON_TOO_MANY_WAITERS "TOO_MANY_WAITERS"   /* too many answers wait for CPUs; nothing was ordered */
#define API_REASON_STOPPING "STOPPING"                   /* the daemon is going away; try again */
#define API_REASON_TOO_SLOW "TOO_SLOW"                   /* the request did not arrive in time */
#define API_REASON_TOO_MANY_STREAMS "TOO_MANY_STREAMS"   /* health watches and reflection streams are limited */

#endif
