import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'
import { createChildren } from '../../../../../sandbox/src/children.ts'
import { lockDirectory } from '../../../../../sandbox/src/directory-lock.ts'
import { createMoneroChain } from '../../../../../sandbox/src/monero/monero-chain.ts'
import { createMoneroRpc } from '../../../../../sandbox/src/monero/monero-rpc.ts'
import { findOnPath } from '../../../../../test/support/describe-with.ts'

/** A private Monero chain for one test, which controls its blocks and its pool. */
export async function startPrivateNode() {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-monerod-'))
  const lock = await lockDirectory(folder)
  const children = createChildren(lock)
  const program = (name: string) => findOnPath(name) ?? name
  const ports = { daemon: await freePort(), wallet: await freePort(), restricted: await freePort() }
  mkdirSync(join(folder, 'bank'))
  const chain = await createMoneroChain({
    programs: { monerod: program('monerod'), wallet: program('monero-wallet-rpc') },
    folder,
    ports,
    children,
    onExit: () => undefined,
  })
  const rpc = createMoneroRpc(ports.daemon)
  return {
    folder,
    url: `http://127.0.0.1:${ports.daemon}`,
    restrictedUrl: `http://127.0.0.1:${ports.restricted}`,
    pay: (address: string, amount: string) => chain.deposit({ currency: 'native', address, amount }),
    call: rpc.call,
    mine: (count: number) => chain.mine(count),
    pop: (count: number) => rpc.post('/pop_blocks', { nblocks: count }),
    pool: async () => {
      const { transactions = [] } = await rpc.post('/get_transaction_pool', {})
      return (transactions as { id_hash: string }[]).map(({ id_hash: hash }) => hash)
    },
    readRaw: async (hash: string) => {
      const { txs = [] } = await rpc.post('/get_transactions', { txs_hashes: [hash] })
      return String((txs as { as_hex: string }[])[0]?.as_hex)
    },
    /** From 0.18.4 on, the daemon checks failed pool transactions again at every block. */
    retriesFailedTransactions: async () => {
      const { version } = await rpc.call('get_info')
      const [, minor = 0, patch = 0] = String(version).split('.').map(Number.parseFloat)
      return minor > 18 || patch >= 4
    },
    stop: async () => {
      await chain.stop()
      await children.close()
      lock.release()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
