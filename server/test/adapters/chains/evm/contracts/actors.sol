// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// Contracts that send or refuse native currency in different ways.

contract Forwarder {
    error Refused();

    receive() external payable {}

    /// One internal transfer, as contract wallets and exchanges pay out.
    function forward(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
    }

    /// Two internal transfers at different call depths.
    function forwardTwice(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value / 2}("");
        require(ok);
        this.forward{value: msg.value / 2}(to);
    }

    /// The internal transfer succeeds, its parent call reverts, and the transaction succeeds (D11).
    function forwardInVain(address payable to) external payable {
        try this.forwardAndRevert{value: msg.value}(to) {} catch {}
    }

    function forwardAndRevert(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
        revert Refused();
    }

    /// Calls without value before the transfer, which tracers list differently: precompile, staticcall, delegatecall.
    function forwardAmidNoise(address payable to) external payable {
        (bool a, ) = address(4).staticcall("noise");
        (bool b, ) = address(this).staticcall("");
        (bool c, ) = address(this).delegatecall("");
        (bool d, ) = address(this).call{gas: 5000, value: 0}(abi.encodeCall(this.forwardAndRevert, (to)));
        require(a && (b || c || !d || d));
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
    }
}

/// Pays from its constructor (D13).
contract PayingConstructor {
    constructor(address payable to) payable {
        if (to != address(0)) {
            (bool ok, ) = to.call{value: msg.value}("");
            require(ok);
        }
    }
}

/// Forces native currency on an address without a call (D12): selfdestruct in a constructor still works after EIP-6780.
contract Exploder {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

/// Accepts no native currency.
contract Refuser {
    function nothing() external pure {}
}

/// Halts on a payment without a revert, as old contracts do on a failed assertion.
contract Halter {
    receive() external payable {
        assembly {
            invalid()
        }
    }
}

/// Uses all gas that a payment has.
contract Spinner {
    receive() external payable {
        while (true) {}
    }
}

/// Uses much gas when it receives a payment.
contract GasEater {
    uint256[] private eaten;

    receive() external payable {
        for (uint256 n = 0; n < 30; n++) eaten.push(n + 1);
    }
}

/// Replaces the OP stack's GasPriceOracle.
contract L1Oracle {
    function getL1Fee(bytes memory data) external pure returns (uint256) {
        return data.length * 1 gwei;
    }
}

/// Replaces the oracle of Isthmus, which has a fee of the operator.
contract IsthmusOracle is L1Oracle {
    function getOperatorFee(uint256 gasUsed) external pure returns (uint256) {
        return gasUsed * 2 + 7;
    }
}
