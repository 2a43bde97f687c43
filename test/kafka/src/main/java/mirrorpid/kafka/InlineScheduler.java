package mirrorpid.kafka;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Does at once what is to happen once, and never what is to happen again and again. */
final class InlineScheduler implements Scheduler {
    @Override
    public void startup() {}

    @Override
    public void shutdown() {}

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (periodMs < 0) {
            task.run();
        }
        return new Done();
    }

    @Override
    public void resizeThreadPool(int newSize) {}

    private static final class Done extends CompletableFuture<Void> implements ScheduledFuture<Void> {
        Done() {
            complete(null);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }
}
