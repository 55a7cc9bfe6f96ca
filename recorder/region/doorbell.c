// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that has nothing to do waits for a time, or until another one rings.
#include "doorbell.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int tp_doorbell_init(struct tp_doorbell *bell, struct tp_err *err)
{
	bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell->fd < 0)
		return tp_err_system(err, errno, NULL, "cannot make a file descriptor for events");
	return 0;
}

void tp_doorbell_release(struct tp_doorbell *bell)
{
	close(bell->fd);
	bell->fd = -1;
}

void tp_doorbell_ring(struct tp_doorbell *bell)
{
	// It fails only when the count is full, and then the bell has been rung already.
	while (eventfd_write(bell->fd, 1) && errno == EINTR)
		;
}

void tp_doorbell_wait(struct tp_doorbell *bell, int timeout_ms)
{
	struct pollfd event = {.fd = bell->fd, .events = POLLIN};
	eventfd_t rings;
	if (poll(&event, 1, timeout_ms) > 0)
		eventfd_read(bell->fd, &rings);
}

int tp_worker_start(struct tp_worker *worker, void *(*run)(void *), void *argument,
    const char *what, struct tp_err *err)
{
	worker->stop = 0;
	const int r = tp_doorbell_init(&worker->bell, err);
	if (r)
		return r;
	const int error = pthread_create(&worker->thread, NULL, run, argument);
	if (!error)
		return 0;
	tp_doorbell_release(&worker->bell);
	return tp_err_system(err, error, NULL, "cannot start %s", what);
}

void tp_worker_ask_stop(struct tp_worker *worker)
{
	tp_store_relaxed(&worker->stop, 1);
	tp_doorbell_ring(&worker->bell);
}

void tp_worker_stop(struct tp_worker *worker)
{
	tp_worker_ask_stop(worker);
	pthread_join(worker->thread, NULL);
	tp_doorbell_release(&worker->bell);
}
