// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Burns all its gas if a reader of pools calls it: through Multicall3, or without a sender.
contract Burner {
    address private immutable multicall;

    constructor(address _multicall) {
        multicall = _multicall;
    }

    function decimals() external view returns (uint256) {
        return _answer(18);
    }

    function getRate() external view returns (uint256) {
        return _answer(1e18);
    }

    function _answer(uint256 value) private view returns (uint256) {
        if (msg.sender == multicall || msg.sender == address(0)) {
            assembly {
                invalid()
            }
        }
        return value;
    }
}

/// Returns two megabytes.
contract Flooder {
    fallback() external {
        assembly {
            return(0, 0x200000)
        }
    }
}

/// A contract that answers.
contract Honest {
    uint256 public constant getRate = 7;
}
