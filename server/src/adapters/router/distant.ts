import type { MessagePort } from 'node:worker_threads'
import type { Log } from '../../lib/log.ts'
import type { PoolSnapshot, PoolSnapshots } from '../../swap/ports/pools.ts'
import type { FromThread, LogLevel, ToThread } from './messages.ts'

/** Snapshots that the other side keeps: the thread has no database. */
export function createThreadSnapshots(port: MessagePort): PoolSnapshots {
  const asked = new Map<number, { loaded(snapshot: PoolSnapshot | null): void; failed(error: Error): void }>()
  let last = 0
  port.on('message', (message: ToThread) => {
    if (message.kind !== 'loaded' && message.kind !== 'saved') return
    const waiting = asked.get(message.id)
    asked.delete(message.id)
    if (message.kind === 'saved' && message.fault !== null) waiting?.failed(new Error(message.fault))
    else waiting?.loaded(message.kind === 'loaded' ? message.snapshot : null)
  })
  const ask = (make: (id: number) => FromThread) =>
    new Promise<PoolSnapshot | null>((loaded, failed) => {
      const id = ++last
      asked.set(id, { loaded, failed })
      port.postMessage(make(id))
    })
  return {
    load: (network) => ask((id) => ({ kind: 'load', id, network })),
    async save(snapshot) {
      await ask((id) => ({ kind: 'save', id, snapshot }))
    },
  }
}

/** The log of the other side, which masks, orders and writes. Fields are plain values and errors. */
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
