import type { MessagePort } from 'node:worker_threads'
import type { Log } from '../../lib/log.ts'
import type { PoolSnapshot, PoolSnapshots } from '../../swap/ports/pools.ts'
import type { FromThread, LogLevel, ToThread } from './messages.ts'

/** Pool snapshots through the main thread: the router thread has no database. */
export function createThreadSnapshots(port: MessagePort): PoolSnapshots {
  const pending = new Map<number, { loaded(snapshot: PoolSnapshot | null): void; failed(error: Error): void }>()
  let lastId = 0
  port.on('message', (message: ToThread) => {
    if (message.kind !== 'loaded' && message.kind !== 'saved') return
    const entry = pending.get(message.id)
    pending.delete(message.id)
    if (message.kind === 'saved' && message.fault !== null) entry?.failed(new Error(message.fault))
    else entry?.loaded(message.kind === 'loaded' ? message.snapshot : null)
  })
  const request = (createMessage: (id: number) => FromThread) =>
    new Promise<PoolSnapshot | null>((loaded, failed) => {
      const id = ++lastId
      pending.set(id, { loaded, failed })
      port.postMessage(createMessage(id))
    })
  return {
    load: (network) => request((id) => ({ kind: 'load', id, network })),
    async save(snapshot) {
      await request((id) => ({ kind: 'save', id, snapshot }))
    },
  }
}

/** Logs through the main thread, which redacts, orders and writes the lines. Fields are plain values and errors. */
export function createThreadLog(port: MessagePort, more: object = {}): Log {
  const write =
    (level: LogLevel) =>
    (fields: object, message: string): void =>
      port.postMessage({ kind: 'log', level, fields: { ...more, ...fields }, message } satisfies FromThread)
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    child: (fields) => createThreadLog(port, { ...more, ...fields }),
  }
}
