from gpucheck.core.compat import results


def test_result_is_found_by_number_name_or_message() -> None:
    mismatch = results.cuda("803")
    assert mismatch is not None
    assert mismatch.name == "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    assert mismatch.meaning == "libcuda and the kernel module have different versions"
    for spelled in ("cudaErrorSystemDriverMismatch", mismatch.name, "system has unsupported display driver, or so"):
        assert results.cuda(spelled) == mismatch
    assert results.cuda("12345") is None
    assert results.nvml("NVMLError_GpuIsLost") == results.nvml("15") == results.nvml("GPU is lost.")


def test_results_are_formatted_consistently() -> None:
    for result in {*results.table_of("cuda_results.txt").values(), *results.table_of("nvml_results.txt").values()}:
        assert result.code.isdecimal(), result
        assert result.name.startswith(("CUDA_", "cudaError", "NVML_ERROR_")), result
        assert result.message == result.message.lower(), result
        assert not result.meaning.endswith("."), result
