import pg from 'pg'
import { type Loop, startLoop } from '../../../lib/loop.ts'

/** Calls the function of a channel for each of its notifications, and all of them after a connect because one may have been missed. */
export async function listen(
  url: string,
  channels: Readonly<Record<string, () => void>>,
  onError: (error: unknown) => void,
): Promise<Loop> {
  let client: pg.Client | null = null

  async function connect(): Promise<void> {
    const next = new pg.Client({ connectionString: url, application_name: 'swapyard listen', keepAlive: true })
    next.on('error', (error) => {
      client = null
      onError(error)
    })
    next.on('notification', ({ channel }) => channels[channel]?.())
    await next.connect()
    for (const channel of Object.keys(channels)) await next.query(`listen ${pg.escapeIdentifier(channel)}`)
    client = next
    for (const onNotice of Object.values(channels)) onNotice()
  }

  await connect()
  const loop = startLoop({
    paceMs: 1_000,
    backoffMs: 10_000,
    turn: async () => {
      if (client === null) await connect()
      return undefined
    },
    onError,
  })
  return {
    stop: async () => {
      await loop.stop()
      await client?.end().catch(onError)
    },
  }
}
