import { type Html, html } from '../../lib/html.ts'
import type { Locale } from './languages/locale.ts'

/** A countdown. The script of the page counts down; without it, each load shows the time that is left. */
export function clock(label: string, until: Date, now: number): Html {
  const seconds = Math.max(0, Math.ceil((until.getTime() - now) / 1_000))
  return html`<p class="clock">${label} <strong role="timer" dir="ltr" data-seconds="${seconds}">${countdown(seconds)}</strong></p>`
}

export const timeText = (at: Date, { formatTime }: Locale): Html =>
  html`<time datetime="${at.toISOString()}">${formatTime(at)}</time>`

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** `9:05` or `23:59:05`. `client.js` writes the same form. */
function countdown(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const rest = twoDigits(seconds % 60)
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`
}
