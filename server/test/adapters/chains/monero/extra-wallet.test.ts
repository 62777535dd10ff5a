import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../../../../test/support/describe-with.ts'
import { createAddresses } from '../../../../src/adapters/chains/monero/address.ts'
import { createByteReader } from '../../../../src/adapters/chains/monero/byte-reader.ts'
import { varint } from '../../../../src/adapters/chains/monero/keys.ts'
import { fromHex, toHex } from '../../../../src/adapters/chains/monero/transaction.ts'
import { createWalletSession } from '../../../../src/adapters/chains/monero/wallet.ts'
import { type Case, cases, keys, outputFor } from './extra-cases.ts'
import { startPrivateNode } from './private-node.ts'

/** Replaces extra field and payee of the block's coinbase transaction, which needs no signatures. */
function replaceCoinbase(block: Uint8Array, { extra, key }: Case): Uint8Array {
  const reader = createByteReader(block)
  // Versions and time, then the previous block and the nonce; then version, unlock time and input of the coinbase transaction.
  for (let n = 0; n < 3; n++) reader.varint()
  reader.take(36)
  for (let n = 0; n < 2; n++) reader.varint()
  expect([...reader.take(2)]).toEqual([1, 0xff])
  reader.varint()
  expect(reader.number()).toBe(1)
  reader.varint()
  const start = reader.at()
  const isTagged = reader.take(1)[0] === 3
  reader.take(isTagged ? 33 : 32)
  reader.take(reader.number())
  const { key: oneTimeKey, tag } = outputFor(key)
  const target = [Uint8Array.of(isTagged ? 3 : 2), oneTimeKey, isTagged ? Uint8Array.of(tag) : new Uint8Array()]
  const field = [varint(extra.length / 2), fromHex(extra)]
  return Buffer.concat([block.subarray(0, start), ...target, ...field, block.subarray(reader.at())])
}

describeWith('monerod', 'the wallet program on extra fields of any content', () => {
  let node: Awaited<ReturnType<typeof startPrivateNode>>
  beforeAll(async () => {
    node = await startPrivateNode()
  })
  afterAll(() => node?.stop())

  test('D47: reads the keys that our scan reads', async () => {
    const folder = join(node.folder, 'extra-fields')
    const session = createWalletSession({ keys, folder, daemonUrl: node.url, restoreHeight: 0 })
    const byHash = new Map<string, string>()
    for (const one of cases) {
      const template = await node.call('get_block_template', {
        wallet_address: createAddresses(keys).hot(),
        reserve_size: 1,
      })
      const block = replaceCoinbase(fromHex(String(template['blocktemplate_blob'])), one)
      await node.call('submit_block', [toHex(block)])
      const { block_header: header } = await node.call('get_last_block_header')
      byHash.set((header as { miner_tx_hash: string }).miner_tx_hash, one.what)
    }
    expect(byHash.size).toBe(cases.length)
    const outputs = await session.run((wallet) => wallet.outputs('slow'))
    await session.close()
    const read = [...outputs.values()].map(({ txHash }) => byHash.get(txHash)).sort()
    expect(read).toEqual(
      cases
        .filter(({ isRead }) => isRead)
        .map(({ what }) => what)
        .sort(),
    )
  })
})
