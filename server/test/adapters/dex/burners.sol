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

/// Answers after four million gas, less than a call may use that is read alone.
contract Costly {
    function getRate() external view returns (uint256) {
        uint256 available = gasleft();
        while (available - gasleft() < 4_000_000) {}
        return 7;
    }
}

/// Answers, but leaves little gas to the calls after it.
contract Draining {
    function getRate() external view returns (uint256) {
        while (gasleft() > 150_000) {}
        return 7;
    }
}

/// Reverts before it lacks gas.
contract Careful {
    function getRate() external view returns (uint256) {
        require(gasleft() > 3_000_000);
        return 7;
    }
}

/// Answers after 5.7 million gas in the innermost of six calls. If it lacks gas, each call around it keeps a 64th.
contract Nested {
    function getRate() external view returns (uint256) {
        return this.answer(4);
    }

    function answer(uint256 depth) external view returns (uint256) {
        if (depth > 0) return this.answer(depth - 1);
        uint256 available = gasleft();
        while (available - gasleft() < 5_700_000) {}
        return 7;
    }
}
