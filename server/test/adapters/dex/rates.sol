// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// What a token is worth, as whoever asks for it is told: anybody sets it.
contract RateProvider {
    uint256 public getRate = 1e18;

    function set(uint256 rate) external {
        getRate = rate;
    }
}

/// In the place of Balancer's authorizer: everybody may do everything.
contract Anarchy {
    function canPerform(bytes32, address, address) external pure returns (bool) {
        return true;
    }
}
