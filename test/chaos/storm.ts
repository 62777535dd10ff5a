import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { until } from './until.ts'

type Span = readonly [least: number, most: number]

export type Weather = Readonly<{
  /** Milliseconds between two of each, drawn anew every time; null = none. */
  killMs: Span | null
  crashMs: Span | null
  reorgMs: Span | null
  /** Blocks that a reorganisation takes away, by network. */
  depths: Readonly<Record<string, Span>>
}>

/** Deeper than confirmations (2 on btc, 3 on eth): what was counted goes, and comes back. Above finality nothing goes. */
export const badWeather: Weather = {
  killMs: [200, 3_000],
  crashMs: [6_000, 10_000],
  reorgMs: [2_500, 5_000],
  depths: { btc: [1, 4], eth: [1, 5] },
}

export type Damage = { kills: number; crashes: number; reorgs: number }

/** Bad weather for a while. Processes are started again by the fleet's nurse, Postgres by whoever started it. */
export async function storm(
  fleet: Fleet,
  weather: Weather,
  forMs: number,
  say: (damage: Damage) => void = () => undefined,
): Promise<Damage> {
  const damage: Damage = { kills: 0, crashes: 0, reorgs: 0 }
  const over = Date.now() + forMs
  const nurse = fleet.nurse()
  const repeat = async (span: Span | null, act: () => Promise<void> | void) => {
    while (span !== null && Date.now() < over) {
      await delay(randomInt(span[0], span[1]))
      if (Date.now() >= over) return
      await act()
      say(damage)
    }
  }
  await Promise.all([
    repeat(weather.killMs, () => kill(fleet, damage)),
    repeat(weather.crashMs, () => {
      fleet.ground.crash(damage.crashes++ % 3 === 2 ? 'group' : 'quit')
    }),
    repeat(weather.reorgMs, () => reorganize(fleet, weather, damage)),
    delay(forMs),
  ])
  await until('every process is ready', () => fleet.all.every((one) => one.isReady()), 180_000)
  await nurse.stop()
  return damage
}

/** Only one that has come to work: killing what starts would only show that it can be started. */
async function kill(fleet: Fleet, damage: Damage): Promise<void> {
  const ready = fleet.all.filter((one) => one.isReady())
  const one = ready[randomInt(Math.max(ready.length, 1))]
  if (!one) return
  damage.kills++
  await one.end('SIGKILL')
}

async function reorganize(fleet: Fleet, { depths }: Weather, damage: Damage): Promise<void> {
  const networks = Object.keys(depths)
  const network = networks[randomInt(networks.length)] ?? ''
  const [least, most] = depths[network] ?? [1, 1]
  await fleet.ground.control('/reorgs', { network, depth: randomInt(least, most + 1) })
  damage.reorgs++
}
