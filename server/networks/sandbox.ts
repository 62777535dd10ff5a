/**
 * What a network has in the sandbox unless its file says otherwise. The URL templates are those of the sandbox's own explorer
 * pages, without a host: the presenter adds the server's public URL. A public explorer does not know a regtest chain.
 */
export const sandboxDefaults = (network: string) => ({
  confirmations: 2,
  finalityBlocks: 10,
  blockTimeMs: 1000,
  addressExplorer: `/sandbox/explorer/${network}/address/{}`,
  txExplorer: `/sandbox/explorer/${network}/tx/{}`,
})

/** Version bytes of Bitcoin Core's regtest, which its forks kept. */
export const regtestVersions = { pubKeyHash: 0x6f, scriptHash: [0xc4], wif: 0xef }
