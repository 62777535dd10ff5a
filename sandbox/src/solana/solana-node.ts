import { Bank, type Block, type SavedBank } from './bank.ts'
import { createRpcServer } from './rpc-server.ts'
import { createBankAccount } from './solana-bank-account.ts'
import { deployMarket, dexPrograms } from './solana-market.ts'
import { serveSubscriptions } from './subscriptions.ts'

export type SolanaNodeOptions = Readonly<{
  port: number
  log: (text: string) => void
  now?: () => number
  /** Begins with the tokens and pools of the sandbox. */
  deploysMarket?: boolean
  /** Hash of the first block, by which clients tell clusters apart. Default: the sandbox's own. */
  genesisHash?: string
  /** Continues this state; the market is part of it. */
  saved?: SavedBank | null
}>

export const startupNotice = `sol: litesvm 1.5.0 executes transactions with the real virtual machine and the real SPL Token, Token-2022, associated token, memo and lookup table programs. It is not a validator: slots, blocks, commitments, forks, the 150-block window of blockhashes and the RPC are simulated; there are no votes, stakes, rewards, rent collection or durable nonces. The binaries of DEXes are not available: ${dexPrograms.map(({ title }) => title).join(', ')} are executed by the maths of the pools on their account data, and their transfers by the token programs, in one transaction with the other instructions.`

/** JSON-RPC and websocket on one port of the loopback interface. The caller produces the blocks. */
export async function startSolanaNode(options: SolanaNodeOptions) {
  const { port, log, now = Date.now, saved = null } = options
  const bank = new Bank(now, dexPrograms, saved, options.genesisHash)
  const account = await createBankAccount(bank)
  if (options.deploysMarket === true && saved === null) await deployMarket(bank, account.address)
  const server = createRpcServer(bank)
  const subscriptions = serveSubscriptions(bank, server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const usedPort = typeof address === 'object' && address !== null ? address.port : port
  log(startupNotice)

  return {
    /** The websocket has the same address with `ws:`. A public validator serves it on the next port. */
    rpcUrl: `http://127.0.0.1:${usedPort}`,
    webSocketUrl: `ws://127.0.0.1:${usedPort}`,
    bank,
    bankAddress: account.address,
    trade: account.trade,
    deposit: account.deposit,
    createMint: account.createMint,
    depositToken: account.depositToken,
    /** Produces blocks now, none of them skipped. */
    mine(count: number): Block {
      for (let n = 0; n < count; n += 1) bank.advance()
      return bank.blockAt('processed')
    },
    skipSlots(count: number): void {
      for (let n = 0; n < count; n += 1) bank.advance(true)
    },
    /** Drops the last unfinalized blocks. Their transactions are missing until they are sent again. */
    fork: (depth: number) => bank.fork(depth),
    countPending: () => bank.countPending(),
    async stop(): Promise<void> {
      subscriptions.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
