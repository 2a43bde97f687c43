package mirrorpid.kafka;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** Stands at 0, where no producer has expired yet, however old the fixtures become. */
final class StoppedTime implements Time {
    @Override
    public long milliseconds() {
        return 0;
    }

    @Override
    public long nanoseconds() {
        return 0;
    }

    @Override
    public void sleep(long millis) {
        Time.SYSTEM.sleep(millis);
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadline) throws InterruptedException {
        Time.SYSTEM.waitObject(object, condition, deadline);
    }
}
