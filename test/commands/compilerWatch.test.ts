import { describe, expect, it } from 'vitest'
import { CompilerWatch, type IdleSample, timeStillDue } from '../../src/commands/compilerWatch.ts'

/** One sample each 10 ms until `time`, during which the loop was idle as the last of them says. */
function samplesUntil(time: number, idleAt: (time: number) => number): IdleSample[] {
  return Array.from({ length: 9 }, (_, at) => time - 10 * (8 - at)).map((at) => ({
    time: at,
    idle: idleAt(at),
  }))
}

describe('what compilers are still given at the end', () => {
  it('nothing after the main thread has listened for 50 ms', () => {
    expect(
      timeStillDue(
        samplesUntil(1000, (time) => time),
        { time: 1001, idle: 1001 },
      ),
    ).toBe(0)
  })

  it('all of it after work', () => {
    expect(
      timeStillDue(
        samplesUntil(1000, () => 300),
        { time: 1001, idle: 300 },
      ),
    ).toBe(50)
  })

  it('the rest after it has listened for less', () => {
    const idleAt = (time: number) => Math.max(0, time - 980)
    expect(timeStillDue(samplesUntil(1000, idleAt), { time: 1000, idle: 20 })).toBe(30)
  })

  it('all of it after work that let no sample be taken, however idle the time before was', () => {
    expect(
      timeStillDue(
        samplesUntil(1000, (time) => time),
        { time: 1800, idle: 1000 },
      ),
    ).toBe(50)
    expect(timeStillDue([], { time: 500, idle: 400 })).toBe(50)
  })

  it('is waited for', async () => {
    const watch = new CompilerWatch()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const end = performance.now() + 300
    while (performance.now() < end);
    const began = performance.now()
    await watch.letFinish()
    expect(performance.now() - began).toBeGreaterThan(45)
  })
})
