// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {LiquidityBookPool} from "./LiquidityBookPool.sol";

/// @dev Test implementation of the views of LFJ's Liquidity Book factory.
contract LiquidityBookFactory {
    event LBPairCreated(
        address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid
    );

    struct LBPairInformation {
        uint16 binStep;
        address LBPair;
        bool createdByOwner;
        bool ignoredForRouting;
    }

    address[] public getLBPairAtIndex;
    mapping(uint256 pair => LBPairInformation[]) private _pairs;

    function createLBPair(address tokenX, address tokenY, uint24 activeId, uint16 binStep)
        external
        returns (address pair)
    {
        pair = address(new LiquidityBookPool(tokenX, tokenY, binStep, activeId));
        _pairs[uint160(tokenX) ^ uint160(tokenY)].push(LBPairInformation(binStep, pair, false, false));
        emit LBPairCreated(tokenX, tokenY, binStep, pair, getLBPairAtIndex.length);
        getLBPairAtIndex.push(pair);
    }

    function getNumberOfLBPairs() external view returns (uint256) {
        return getLBPairAtIndex.length;
    }

    function getAllLBPairs(address tokenX, address tokenY) external view returns (LBPairInformation[] memory) {
        return _pairs[uint160(tokenX) ^ uint160(tokenY)];
    }
}
