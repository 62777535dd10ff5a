import type { Answer } from '../support/scenario.ts'

/* Rows of vectors/bad_inputs.jsonl about chain families without an adapter. */

export type UnservedContext = Readonly<{
  create(body: object): Promise<Answer>
  /** Expects this answer, and no changed rows. */
  expectRejection(send: () => Promise<Answer>, status: number, code: string): Promise<void>
}>

/** A valid order from bitcoin, without its target. */
const order = { fromCurrency: 'btc', fromNetwork: 'btc', fromAmount: '0.01', flow: 'standard' }

/** Rejects each of `destinations` by its network, whether the address or memo is valid or not. */
const rejectsDestinations =
  (network: string, destinations: readonly object[]) =>
  async ({ create, expectRejection }: UnservedContext): Promise<void> => {
    for (const destination of destinations)
      await expectRejection(
        () => create({ ...order, toCurrency: network, toNetwork: network, ...destination }),
        422,
        'PAIR_UNAVAILABLE',
      )
  }

/** The examples of addresses are public: Raydium's authority, the token program; XLS-5; SEP-23. */
export const unservedInputs: Readonly<
  Record<string, readonly [name: string, run: (context: UnservedContext) => Promise<void>]>
> = {
  B077: [
    'rejects addresses of Solana without a private key',
    rejectsDestinations('sol', [
      { address: '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1' },
      { address: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
      { address: '11111111111111111111111111111111' },
    ]),
  ],
  B078: [
    'rejects short addresses of Sui',
    rejectsDestinations('sui', [{ address: `0x${'1'.repeat(63)}` }, { address: '0x2' }]),
  ],
  B087: [
    'rejects a tag in the address of XRP that differs from the memo',
    rejectsDestinations('xrp', [{ address: 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu', memo: '2' }]),
  ],
  B088: [
    'rejects a memo of Stellar with 29 bytes',
    rejectsDestinations('xlm', [
      { address: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ', memo: `${'🙂'.repeat(7)}a` },
    ]),
  ],
}
