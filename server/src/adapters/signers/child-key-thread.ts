import { parentPort } from 'node:worker_threads'
import { present } from '../../lib/assert.ts'
import { type ChildKeys, createChildKeys, type Parent } from './child-keys.ts'

export type ChildKeysRequest = Readonly<{ id: number; parent: Parent; indexes: readonly number[] }>
export type ChildKeysResponse = Readonly<{ id: number; keys: readonly Uint8Array[] }>

/*
 * A thread that derives public keys in advance, from public keys only. If it cannot derive a key it ends; the waiting
 * requests fail with the reason, and the caller derives the keys itself.
 */
const port = present(parentPort, 'the thread that started this one')
const branches = new Map<string, ChildKeys>()

port.on('message', ({ id, parent, indexes }: ChildKeysRequest) => {
  const name = Buffer.from(parent.publicKey).toString('hex')
  const derive = branches.get(name) ?? createChildKeys(parent)
  branches.set(name, derive)
  // One buffer for all keys, so that the message transfers one.
  const bytes = new Uint8Array(Buffer.concat(derive(indexes)))
  const size = bytes.length / indexes.length
  const keys = indexes.map((_, n) => bytes.subarray(n * size, (n + 1) * size))
  port.postMessage({ id, keys } satisfies ChildKeysResponse, [bytes.buffer])
})
