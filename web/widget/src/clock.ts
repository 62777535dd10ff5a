const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** `4:07`, or `23:59:59` from an hour on. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, twoDigits(seconds % 60)]
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`
}

/** Calls `tick` now and every second until the signal aborts. */
export function everySecond(signal: AbortSignal, tick: () => void): void {
  tick()
  const timer = setInterval(tick, 1_000)
  signal.addEventListener('abort', () => clearInterval(timer))
}
