import type { DexNetwork } from '../src/swap/domain/dex.ts'

/**
 * Packages, objects and coin types as published by each project: cetus-1.gitbook.io, docs.sui.io, developers.circle.com; DeepBook's package
 * in github.com/MystenLabs/deepbookv3 (packages/deepbook/Published.toml) and @mysten/deepbook-v3 since 1.4.0. A DEX of Sui publishes
 * another package with each upgrade, and its pools are listed by their ids: the operator's settings replace the one and add the others.
 * Nothing was ever compared with a real node, so swaps need `swaps.networks.sui.enabled`.
 */
export const sui: DexNetwork = {
  network: 'sui',
  wrapped: '0x2::sui::SUI',
  connectors: [
    // USDC
    '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC',
  ],
  stablecoin: '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC',
  dexes: [
    {
      name: 'cetus',
      kind: 'cetus',
      // Version 15.
      factory: '0x260693ec785a6e6c9d81d58c7d2ff72f1288ae0fa6a9725abe05a6478b11f084',
      config: '0xdaa46292632c3c4d8f31f23ea0f9b36a28ff3677e9684980e4438403a67a3d8f',
      pools: [
        // USDC and SUI, 0.25 % and 0.05 %
        '0xb8d7d9e66a60c239e7a60110efcf8de6c705580ed924d0dde141f4a0e2c90105',
        '0x51e883ba7c0b566a26cbc8a94cd33eb0abd418a77cc1e60ad22fd9b1f29cd2ab',
      ],
    },
    {
      name: 'deepbook',
      kind: 'deepbook',
      // Version 8, that of the recorded swaps. A pool that does not allow it any more is not used.
      factory: '0x0e735f8c93a95722efd73521aca7a7652c0bb71ed1daf41b26dfd7d1ff71f748',
      feeCoin: '0xdeeb7a4662eec9f2f3def03fb937a663dddaa2e215b8078a284d026b7946c270::deep::DEEP',
      // SUI and USDC
      pools: ['0xe05dafb5133bcffb8d59f4e12465dc0e9faeaa05e3e342a08fe135800e3e4407'],
    },
  ],
}
