import { parentPort } from 'node:worker_threads'
import { present } from '../../lib/assert.ts'
import { type ChildKeys, createChildKeys, type Parent } from './child-keys.ts'

export type ChildKeysRequest = Readonly<{ id: number; parent: Parent; indexes: readonly number[] }>
export type ChildKeysResponse = Readonly<{ id: number; keys: readonly Uint8Array[] }>

/*
 * A thread that derives public keys before they are asked for. It knows public halves alone. A key that it cannot derive
 * ends it: who waits for it derives by itself, and hears why.
 */
const port = present(parentPort, 'the thread that started this one')
const branches = new Map<string, ChildKeys>()

port.on('message', ({ id, parent, indexes }: ChildKeysRequest) => {
  const name = Buffer.from(parent.publicKey).toString('hex')
  const derive = branches.get(name) ?? createChildKeys(parent)
  branches.set(name, derive)
  // Of one buffer, so that a message carries one.
  const plain = new Uint8Array(Buffer.concat(derive(indexes)))
  const size = plain.length / indexes.length
  const keys = indexes.map((_, n) => plain.subarray(n * size, (n + 1) * size))
  port.postMessage({ id, keys } satisfies ChildKeysResponse, [plain.buffer])
})
