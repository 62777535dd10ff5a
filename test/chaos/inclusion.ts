import assert from 'node:assert/strict'
import { nullIfRefused } from '../support/node-refusal.ts'
import { type Json, until } from '../support/until.ts'
import type { Cluster } from './cluster.ts'
import type { Payment } from './customers.ts'
import type { Fleet } from './fleet.ts'
import { findMoneroHeight, readMoneroHeader } from './monero.ts'

/** The block of the best chain that includes a transaction. A reorganisation that removes it replaces `depth` blocks. */
type Inclusion = Readonly<{ height: number; hash: string; depth: number }>

/** Null = the transaction is in no block of the best chain. */
export async function findInclusion(cluster: Cluster, network: string, hash: string): Promise<Inclusion | null> {
  const chain = readersOf(cluster, network)
  const height = await chain.findHeight(hash)
  if (height === null) return null
  return { height, hash: await chain.readHash(height), depth: (await chain.readTip()) - height + 1 }
}

/**
 * Mines one block after the other until the payment is `depth` blocks deep and the app has recorded it there, and waits for
 * `look`. Then replaces these blocks, and waits until the app has noticed that the payment is in none of them. Call it while
 * mining is paused, so that the speed of the machine changes no depth. Returns what `look` returned.
 */
export async function mineAndRemove<T>(
  fleet: Fleet,
  { network, hash }: Pick<Payment, 'network' | 'hash'>,
  depth: number,
  look: () => Promise<T>,
): Promise<T> {
  const { cluster, database } = fleet
  const mine = async () => {
    const found = await findInclusion(cluster, network, hash)
    if (found !== null && found.depth >= depth) return found
    await cluster.control('/blocks', { network, count: 1 })
    return null
  }
  const block = await until(`${hash} is ${depth} blocks deep`, mine)
  assert.equal(block.depth, depth, `${network} has blocks that this case did not mine`)
  const isRecorded = async () => {
    const rows = await database.query(
      'select 1 from deposits where network = $1 and tx_hash = $2 and block_hash = $3',
      [network, hash, block.hash],
    )
    return rows.length > 0
  }
  await until(`the app has recorded ${hash} in block ${block.hash}`, isRecorded)
  const result = await look()
  await cluster.reorganize(network, depth)
  assert.notEqual(
    await readersOf(cluster, network).readHash(block.height),
    block.hash,
    'the block is still on its chain',
  )
  assert.equal(await findInclusion(cluster, network, hash), null, `${hash} is in a block after the reorganisation`)
  await until(`the app has noticed that ${hash} left block ${block.hash}`, async () => !(await isRecorded()))
  return result
}

type Readers = Readonly<{
  findHeight(hash: string): Promise<number | null>
  readHash(height: number): Promise<string>
  readTip(): Promise<number>
}>

function readersOf(cluster: Cluster, network: string): Readers {
  const call = (method: string, ...params: unknown[]): Promise<Json> => cluster.call(network, method, params)
  if (network === 'xmr')
    return {
      findHeight: (hash) => findMoneroHeight(cluster, hash),
      readHash: async (height) => (await readMoneroHeader(cluster, height)).hash,
      readTip: async () => (await readMoneroHeader(cluster, null)).height,
    }
  if (network === 'btc' || network === 'ltc') {
    const readTip = async () => Number(await call('getblockcount'))
    return {
      findHeight: async (hash) => {
        const transaction: Json = await call('getrawtransaction', hash, true).catch(nullIfRefused)
        const confirmations = Number(transaction?.confirmations ?? 0)
        return confirmations > 0 ? (await readTip()) - confirmations + 1 : null
      },
      readHash: (height) => call('getblockhash', height),
      readTip,
    }
  }
  return {
    findHeight: async (hash) => {
      const receipt: Json = await call('eth_getTransactionReceipt', hash)
      return receipt === null ? null : Number(receipt.blockNumber)
    },
    readHash: async (height) => (await call('eth_getBlockByNumber', `0x${height.toString(16)}`, false)).hash,
    readTip: async () => Number(await call('eth_blockNumber')),
  }
}
