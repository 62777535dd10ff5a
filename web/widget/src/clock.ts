const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** `4:07`, or `23:59:59` from an hour on. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, twoDigits(seconds % 60)]
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`
}

/** A time of the server by the clock of this device, so that a wrong one does not matter. `startedAt`: that of the create. */
export const toLocalMs = (time: string, { created }: Readonly<{ created: string }>, startedAt: number): number =>
  startedAt + Date.parse(time) - Date.parse(created)

/** Calls `tick` now and every second until the signal aborts. */
export function everySecond(signal: AbortSignal, tick: () => void): void {
  tick()
  const timer = setInterval(tick, 1_000)
  signal.addEventListener('abort', () => clearInterval(timer))
}
