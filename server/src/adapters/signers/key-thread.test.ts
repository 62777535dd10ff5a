import { HDKey } from '@scure/bip32'
import { expect, test } from 'vitest'
import { createKeyThread } from './key-thread.ts'

test('rejects waiting requests when the thread ends, and starts another one for the next request', async () => {
  const { publicKey, chainCode } = HDKey.fromMasterSeed(Buffer.alloc(32, 3)).derive('m/84')
  if (!publicKey || !chainCode) throw new Error('no key')
  const thread = createKeyThread()
  const nowhere = { publicKey: new Uint8Array(33), chainCode }
  await expect(thread.derive(nowhere, [1])).rejects.toThrow()
  const keys = await thread.derive({ publicKey, chainCode }, [1, 2])
  expect(keys.map(({ length }) => length)).toEqual([65, 65])
})
